import { expectLikeItsTest } from '../deliveries/samples.ts'
import { openWorld, until, type World } from './world.ts'

const NOT_FOUND = { status: 404, body: '{"message":"not registered"}' }

/** The result of an attempt, as the deliveries report it. */
function answered(status: number | null, headers: Record<string, string> = {}) {
  return { status, kind: status === null ? ('failed' as const) : ('answered' as const), subject: '', headers }
}

describe('a workflow that is gone', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({})
  })

  const state = async (id: string) =>
    (await world.seller.call('GET', `/v1/checkouts/${id}`)).body.checkout.status as string
  const simulate = (id: string) => world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
  const probe = () => world.service.checkouts.sweepers.probes(world.service.clock.now())
  /** The service's own sweep may have begun the look, and ends it. */
  const answers = async (id: string) => {
    await probe()
    await until(async () => (await state(id)) === 'active')
  }

  it.each([
    ['nothing there', NOT_FOUND],
    ['a fault', { status: 500, body: '{}' }],
    ['a page instead of JSON', { status: 200, body: '<html>login</html>' }],
    ['a redirect', { status: 302, body: '{}' }],
  ])('answers 503 and charges nothing when the preflight finds %s', async (_, check) => {
    const { id } = await world.sell({ preflight: true })
    const payer = await world.chain.payer(1_000_000n)
    const paymentPayload = await world.sign(payer, id)
    world.workflow.answers({ check })
    const pay = () => world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
    expect(await pay()).toMatchObject({ status: 503, body: { code: 'workflow_unavailable' } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
    // The authorization was not used up: once the workflow is there it pays.
    world.workflow.answers({})
    expect(await pay()).toMatchObject({ status: 200, body: { payment: { status: 'paid' } } })
  })

  it('is checked once before each payment, and only where its owner wants that', async () => {
    const withPreflight = await world.sell({ testMode: true, preflight: true })
    const trusting = await world.sell({ testMode: true })
    const before = world.workflow.checks
    await simulate(withPreflight.id)
    await simulate(trusting.id)
    expect(world.workflow.checks).toBe(before + 1)
  })

  it('pauses its checkout after three deliveries find nothing, reports it, and resumes when it answers', async () => {
    await world.service.database.statements.run('UPDATE identity_user SET email_confirmed = true', [])
    const hook = await world.seller.call('POST', '/v1/webhook-endpoints', {
      body: { url: `${world.workflow.url}?owner`, events: ['checkout.paused'] },
    })
    expect(hook.status).toBe(201)
    world.workflow.answers({ delivery: NOT_FOUND })
    const { id } = await world.sell({ testMode: true })
    for (let count = 0; count < 3; count++) {
      expect(await state(id)).toBe('active')
      const paid = await simulate(id)
      await until(async () => {
        const { body } = await world.call('GET', `/p/${id}/payments/${String(paid.body.payment.id)}`)
        return body.delivery?.attempts > 0
      })
    }
    expect(await until(async () => (await state(id)) === 'paused')).toBe(true)
    expect(await simulate(id)).toMatchObject({ status: 503, body: { code: 'workflow_unavailable' } })
    const shown = await world.call('GET', `/p/${id}`)
    expect(shown).toMatchObject({ status: 200, body: { available: false, checkout: { status: 'paused' } } })
    const delivery = await until(
      () => world.workflow.deliveries.find(({ json }) => json.event === 'checkout.paused') ?? null,
    )
    expect(delivery.json.data).toMatchObject({ checkoutId: id, callbackUrl: world.workflow.url })
    expectLikeItsTest(delivery.json as Parameters<typeof expectLikeItsTest>[0])

    // Asked again, and still not there.
    world.workflow.answers({ check: NOT_FOUND })
    world.service.clock.forward(31_000)
    await probe()
    expect(await state(id)).toBe('paused')
    world.workflow.answers({})
    world.service.clock.forward(31_000)
    await answers(id)
    expect((await simulate(id)).status).toBe(200)
  })

  it('pauses its checkout once its checks have failed for two minutes, and tells its owner', async () => {
    const { clock } = world.service
    const { id } = await world.sell({ testMode: true, preflight: true })
    const FAILS = { status: 502, body: '{}' }
    const refused = async () => expect((await simulate(id)).status).toBe(503)
    const paused = () => world.workflow.deliveries.filter(({ json }) => json.event === 'checkout.paused')
    const hook = { url: `${world.workflow.url}?owner`, events: ['checkout.paused'] }
    await world.seller.call('POST', '/v1/webhook-endpoints', { body: hook })
    // Two that are days apart, and some within a minute, are no reason; nor are those with an answer between.
    for (const ms of [0, 2 * 86_400_000, 30_000, 30_000]) {
      clock.forward(ms)
      world.workflow.answers({ check: FAILS })
      await refused()
    }
    world.workflow.answers({})
    // A purchase whose delivery came late would end the pause.
    const declined = { input: {}, simulate: true, outcome: 'declined' }
    expect((await world.call('POST', `/p/${id}/pay`, { body: declined })).status).not.toBe(503)
    world.workflow.answers({ check: FAILS })
    clock.forward(100_000)
    await refused()
    expect([await state(id), paused()]).toEqual(['active', []])
    clock.forward(120_000)
    await refused()
    expect(await state(id)).toBe('paused')
    const told = await until(() => paused()[0] ?? null)
    expect(told.json.data).toMatchObject({ checkoutId: id })

    clock.forward(31_000)
    await probe()
    expect(await state(id)).toBe('paused')
    world.workflow.answers({})
    clock.forward(31_000)
    await answers(id)
    // It begins anew.
    world.workflow.answers({ check: FAILS })
    await refused()
    expect(await state(id)).toBe('active')
  })

  it('is detected only by consecutive 404s', async () => {
    const { id } = await world.sell({ testMode: true })
    const { attempted } = world.service.checkouts
    for (const status of [404, 404, 200, 404, 404, 500, 404, 410, null]) await attempted(id, answered(status))
    expect(await state(id)).toBe('active')
    await attempted(id, answered(404))
    expect(await state(id)).toBe('paused')
    await attempted(id, answered(500))
    expect(await state(id)).toBe('paused')
  })

  it('is not detected by late deliveries of payments that were simulated before test mode was switched off', async () => {
    const source = { instanceId: 'n8n', workflowId: 'late', nodeId: 'trigger' }
    const { id } = await world.sell({ testMode: true, source })
    await world.sell({ testMode: false, source })
    const late = answered(410, { 'coinslot-test': 'true' })
    for (let count = 0; count < 4; count++) await world.service.checkouts.attempted(id, late)
    expect(await state(id)).toBe('active')
    // In test mode they say whether the workflow is there.
    await world.sell({ testMode: true, source })
    for (let count = 0; count < 3; count++) await world.service.checkouts.attempted(id, late)
    expect(await state(id)).toBe('paused')
  })

  async function pause(id: string): Promise<void> {
    for (let count = 0; count < 3; count++) await world.service.checkouts.attempted(id, answered(404))
    expect(await state(id)).toBe('paused')
  }

  it('is active again when its owner edits it, and not by a change of nothing', async () => {
    const { id } = await world.sell({ testMode: true })
    await pause(id)
    const { checkout } = (await world.seller.call('GET', `/v1/checkouts/${id}`)).body
    for (const body of [{}, { version: 1 }]) {
      expect(await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body })).toMatchObject({
        status: 200,
        body: { checkout },
      })
    }
    const { body } = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { preflight: true } })
    expect(body.checkout).toMatchObject({ status: 'active', pausedAt: null })
  })

  it('is active again when it registers itself, or accepts a delivery', async () => {
    const source = { instanceId: 'n8n', workflowId: 'back', nodeId: 'trigger' }
    const { id } = await world.sell({ testMode: true, source })
    await pause(id)
    await world.sell({ testMode: true, source })
    expect(await state(id)).toBe('active')
    await pause(id)
    await world.service.checkouts.attempted(id, answered(200))
    expect(await state(id)).toBe('active')
  })
})
