import { openWorld, until, type World } from './world.ts'

interface PaidView {
  payment: { status: string; txHash: string | null }
  delivery: { status: string } | null
}

describe('a simulated payment', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
  })

  const simulate = async (id: string, more: Record<string, unknown>, headers: Record<string, string> = {}) =>
    await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true, ...more }, headers })

  it.each([
    ['declined', 'invalid_exact_evm_transaction_failed', 'The chain refused the transfer.'],
    ['insufficient_funds', 'invalid_exact_evm_insufficient_balance', "The payer's balance is too low."],
  ])('%s fails for the reason that the chain would give, and is not delivered', async (outcome, code, sentence) => {
    const { id } = await world.sell({ testMode: true })
    const headers = { 'idempotency-key': `key-${outcome}` }
    const failed = await simulate(id, { outcome }, headers)
    expect(failed.status).toBe(200)
    expect(failed.body).toMatchObject({
      payment: { status: 'failed', reason: { code, sentence }, txHash: null, paidAt: null, testMode: true },
      delivery: null,
    })
    expect((await simulate(id, { outcome }, headers)).body.payment.id).toBe(failed.body.payment.id)
    expect((await simulate(id, { outcome: 'paid' }, headers)).status).toBe(409)
    const { body } = await world.call('GET', new URL(String(failed.body.payment.statusUrl)).pathname)
    expect(body.payment.status).toBe('failed')
    expect(world.workflow.deliveries).toEqual([])
  })

  it('that is slow proceeds from created through settling to paid, once, and is delivered', async () => {
    const { id } = await world.sell({ testMode: true })
    const began = await simulate(id, { outcome: 'slow' })
    expect(began.status).toBe(202)
    expect(began.body).toMatchObject({ payment: { status: 'created', txHash: null }, delivery: null })
    const pay: string = began.body.payment.id
    const at = new URL(String(began.body.payment.statusUrl))
    const now = async () => (await world.call('GET', at.pathname + at.search)).body as PaidView
    // Asked for before its time, it stays where it is.
    const again = await world.call('POST', `/p/${id}/pay`, {
      body: { input: {}, paymentId: pay, token: began.body.payment.token },
    })
    expect(again.body.payment.status).toBe('created')
    const sweptAfter = async (ms: number) => {
      world.service.clock.forward(ms)
      await world.service.sales.sales(world.service.clock.now())
      return await now()
    }
    expect((await sweptAfter(2_000)).payment.status).toBe('settling')
    const paid = await sweptAfter(6_000)
    expect(paid.payment.status).toBe('paid')
    expect(paid.payment.txHash).toBe(`simulated:${pay}`)
    await until(async () => (await now()).delivery?.status === 'delivered')
    expect(world.workflow.deliveries.map(({ headers }) => headers['coinslot-test'])).toEqual(['true'])
  })

  it('with a failed delivery calls no workflow until its owner redelivers it', async () => {
    const { id } = await world.sell({ testMode: true })
    const paid = await simulate(id, { outcome: 'delivery_failed' })
    expect(paid.body.payment.status).toBe('paid')
    const at = new URL(String(paid.body.payment.statusUrl))
    const delivery = await until(async () => {
      const { body } = await world.call('GET', at.pathname + at.search)
      return body.delivery.status === 'stopped' && (body.delivery as Record<string, unknown>)
    })
    expect(delivery).toMatchObject({ attempts: 1, lastStatus: null, lastError: 'simulated_failure' })
    expect(delivery['history']).toEqual([{ at: expect.any(String), status: null, error: 'simulated_failure' }])
    expect(world.workflow.deliveries).toEqual([])
    const again = await world.seller.call('POST', `/v1/deliveries/${String(delivery['id'])}/redeliver`)
    expect(again.status).toBe(202)
    await until(() => world.workflow.deliveries.length === 1)
    const [row] = await world.service.database.statements.run<{ failing_since: Date | null }>(
      'SELECT failing_since FROM delivery_target WHERE id = $1',
      [id],
    )
    expect(row).toEqual({ failing_since: null })
  })

  it('keeps the price of its quote until that expires', async () => {
    const source = { instanceId: 'i', workflowId: 'w', nodeId: 'quoted' }
    const { id } = await world.sell({ testMode: true, price: 1, source })
    const { quoteId } = (await world.call('GET', `/p/${id}`)).body.quote as { quoteId: string }
    expect((await world.sell({ testMode: true, price: 3, source })).id).toBe(id)
    const amountOf = async (more: Record<string, unknown>) => (await simulate(id, more)).body.payment.amount as number
    expect(await amountOf({ quoteId })).toBe(1)
    expect(await amountOf({})).toBe(3)
    for (const outcome of ['declined', 'slow', 'delivery_failed']) expect(await amountOf({ quoteId, outcome })).toBe(1)
    await until(() => world.workflow.deliveries.some(({ json }) => json.payment.amount === 1))
    const other = await world.sell({ testMode: true })
    expect((await simulate(other.id, { quoteId })).status).toBe(400)
    world.service.clock.forward(600_001)
    expect(await simulate(id, { quoteId })).toMatchObject({ status: 410, body: { code: 'quote_expired' } })
  })

  it('refused by the workflow shows each attempt to its buyer only', async () => {
    world.workflow.answers({ delivery: { status: 500, body: '{}' } })
    const { id } = await world.sell({ testMode: true })
    const paid = await simulate(id, {})
    const at = new URL(String(paid.body.payment.statusUrl))
    const failed = await until(async () => {
      const { body } = await world.call('GET', at.pathname + at.search)
      return body.delivery.lastStatus === 500 && (body.delivery as Record<string, unknown>)
    })
    expect(failed).toMatchObject({ status: 'pending', nextAttemptAt: expect.any(String) })
    expect(failed['history']).toEqual([{ at: expect.any(String), status: 500, error: null }])
    const { body } = await world.call('GET', at.pathname)
    expect(body.delivery).toMatchObject({ history: null, lastError: null, nextAttemptAt: null })
    world.workflow.answers({})
  })

  it.each(['paid', 'declined', 'insufficient_funds', 'slow', 'delivery_failed'])(
    'is never %s outside test mode, and leaves no sale',
    async (outcome) => {
      const { id } = await world.sell()
      const refused = await simulate(id, { outcome })
      expect(refused).toMatchObject({ status: 400, body: { code: 'not_test_mode' } })
      const [row] = await world.service.database.statements.run<{ count: bigint }>(
        'SELECT count(*) FROM sale WHERE subject = $1',
        [id],
      )
      expect(Number(row!.count)).toBe(0)
    },
  )

  it('refuses an unknown outcome, and an outcome with a real payment', async () => {
    const { id } = await world.sell({ testMode: true })
    expect((await simulate(id, { outcome: 'refunded' })).status).toBe(400)
    const body = { input: {}, outcome: 'paid', paymentPayload: {} }
    const mixed = await world.call('POST', `/p/${id}/pay`, { body })
    expect(mixed.body).toMatchObject({ details: { outcome: 'must be absent unless simulate is true' } })
  })
})
