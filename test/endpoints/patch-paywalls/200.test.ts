import { NETWORKS } from '../../../service/chain/networks.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { PAYWALL } from '../post-paywalls/paywall.ts'

describe('PATCH /paywalls/{id} → 200', () => {
  let service: TestService
  let person: TestPerson
  let path: string
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    path = `/v1/paywalls/${String((await person.call('POST', '/v1/paywalls', { body: PAYWALL })).body.paywall.id)}`
  })
  afterAll(() => service.close())

  const patch = (body: unknown) => person.call('PATCH', path, { body })

  it('changes only the fields sent', async () => {
    const before = (await person.call('GET', path)).body.paywall
    service.clock.forward(1_000)
    const { body } = await patch({ name: 'Climate', upstreamHeaders: { 'X-Other': '1' }, status: 'paused' })
    expect(body.paywall).toEqual({
      ...before,
      name: 'Climate',
      upstreamHeaders: ['X-Other'],
      status: 'paused',
      version: 2,
      updatedAt: expect.any(String),
    })
    expect(body.paywall.updatedAt).not.toBe(before.updatedAt)
    expect((await person.call('GET', path)).body.paywall).toEqual(body.paywall)
  })

  it('changes other fields where the recipient is one that is refused now', async () => {
    const { rows, before } = {
      rows: service.database.statements,
      before: (await person.call('GET', path)).body.paywall,
    }
    const usdc = NETWORKS['base-sepolia'].usdc.address
    const store = 'UPDATE paywall SET recipient = $2 WHERE id = $1'
    await rows.run(store, [before.id, usdc])
    const step = { body: { id: before.id, body: { testMode: false } } }
    expect((await person.call('POST', '/trpc/paywalls.check', step)).status).toBe(200)
    expect(await patch({ name: 'Rain' })).toMatchObject({ status: 200, body: { paywall: { name: 'Rain' } } })
    expect((await patch({ recipient: usdc })).body.details).toEqual({ recipient: expect.any(String) })
    await rows.run(store, [before.id, PAYWALL.recipient.toLowerCase()])
  })

  it('makes a version for each of several concurrent changes', async () => {
    const names = ['a', 'b', 'c', 'd']
    const before = (await person.call('GET', path)).body.paywall.version as number
    const answers = await Promise.all(names.map((name) => patch({ name })))
    expect(answers.map(({ body }) => body.paywall.version as number).sort()).toEqual(
      names.map((_, place) => before + place + 1),
    )
  })

  it.each<[string, Record<string, unknown>]>([
    ['slug', { slug: 'No' }],
    ['network', { network: 'base' }],
    ['recipient', { recipient: `0x${'0'.repeat(40)}` }],
    [
      'routes.0.pricing.amount',
      { routes: [{ method: 'GET', path: '/', pricing: { model: 'per-request', amount: 0 } }] },
    ],
    ['upstreamUrl', { upstreamUrl: 'http://169.254.169.254' }],
    ['upstreamHeaders', { upstreamHeaders: { 'X A': '1' } }],
    ['id', { id: 'pwl_x' }],
  ])('says 400 and names %s', async (field, body) => {
    const answer = await patch(body)
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toContain(field)
  })

  it('answers 409 for a slug in use', async () => {
    await person.call('POST', '/v1/paywalls', { body: { ...PAYWALL, slug: 'taken' } })
    expect(await patch({ slug: 'taken' })).toMatchObject({ status: 409, body: { code: 'slug_taken' } })
  })
})
