import { payWorld, type PayWorld } from '../../tools/calls/pay-world.ts'
import { toolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} without a key', () => {
  let world: PayWorld
  beforeAll(async () => {
    world = await payWorld()
    world.upstream.respondWith('/notes', { id: 3 }, 201)
  })
  afterAll(async () => {
    await world.close()
  })

  const input = { title: 'Paid' }
  const post = (headers: Record<string, string> = {}, slug = 'acme-create-note') =>
    world.service.call('POST', `/tools/${slug}`, { body: input, headers })

  test.each([1, 2, 'mpp'] as const)('is answered with the price, and paid there by %p', async (version) => {
    const payer = await world.chain.payer(1_000_000n)
    const required = await post()
    expect([required.status, required.body.code, required.body.amount]).toEqual([402, 'payment_required', '0.01'])
    expect(required.body.accepts[0].resource).toMatch(/\/tools\/acme-create-note$/)
    const { header, value } = await world.sign(payer, required, version)
    const answer = await post({ [header]: value })
    expect([answer.status, answer.body.output, answer.body.credits]).toEqual([200, { id: 3 }, null])
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test('a wrong key is a 401, with a payment too, and moves nothing', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const { header, value } = await world.sign(payer, await post())
    for (const payment of [{}, { [header]: value }]) {
      const answer = await post({ authorization: 'Bearer csk_test_wrong', ...payment })
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated'])
    }
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  test('the price at either address is that of one resource', async () => {
    const [one, other] = [await post(), await world.buy('acme-create-note', input)]
    expect(one.body.accepts).toEqual(other.body.accepts)
  })

  test('a wrong input and an unknown tool are named before the price', async () => {
    expect((await post({}, 'no-such-tool')).status).toBe(404)
    const answer = await world.service.call('POST', '/tools/acme-create-note', { body: { pages: 'x' } })
    expect([answer.status, Object.keys(answer.body.details as object)]).toEqual([400, ['title', 'pages']])
  })

  test('answers 401 with a sentence where nothing can be settled', async () => {
    const quiet = await toolWorld()
    const answer = await quiet.service.call('POST', '/tools/acme-create-note', { body: input })
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated'])
    expect(answer.body.error).toContain('cannot settle payments')
    await quiet.close()
  })
})
