import { toolWorld, type ToolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} → 402', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ SIGNUP_CREDITS: '1' })
    world.upstream.respondWith('/notes', { id: 1 })
  })
  afterAll(async () => {
    await world.close()
  })

  test('names what is required and what credits and wallet have together; the tool is not called', async () => {
    const caller = await world.caller(0.004)
    await world.spend(caller, 1_000_000n)
    const requestsBefore = world.upstream.requests.length
    const answer = await world.call(caller, 'acme-create-note', { title: 'x' })
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({ code: 'insufficient_credits', required: 0.01, available: 0.004 })
    expect(world.upstream.requests).toHaveLength(requestsBefore)
  })

  test('refuses what costs more than maxCost, for nothing, with a key and without; what is no amount is refused too', async () => {
    const caller = await world.caller(1)
    const requestsBefore = world.upstream.requests.length
    const at = (query: string) => caller.call('POST', `/tools/acme-create-note${query}`, { body: { title: 'x' } })
    const dear = await at('?maxCost=0.009999')
    expect([dear.status, dear.body]).toMatchObject([
      402,
      { code: 'max_cost_exceeded', required: 0.01, maxCost: 0.009999 },
    ])
    const free = await at('?maxCost=0')
    expect([free.status, free.body.code]).toEqual([402, 'max_cost_exceeded'])
    for (const query of ['?maxCost=', '?maxCost=all', '?maxCost=-1', '?maxCost=0.0000001', '?maxCost=1&maxCost=2']) {
      const answer = await at(query)
      expect([query, answer.status, Object.keys(answer.body.details as object)]).toEqual([query, 400, ['maxCost']])
    }
    expect(world.upstream.requests).toHaveLength(requestsBefore)
    for (const query of ['?maxCost=0.01', '?maxCost=1e-2', '']) expect((await at(query)).body.cost).toBe(0.01)
  })

  test('is not stored under its Idempotency-Key: after a top-up the same call is made', async () => {
    const caller = await world.caller(0.004)
    await world.spend(caller, 1_000_000n)
    const call = () => world.call(caller, 'acme-create-note', { title: 'x' }, { 'idempotency-key': 'top-up' })
    expect((await call()).status).toBe(402)
    expect((await caller.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })).status).toBe(200)
    const [done, again] = [await call(), await call()]
    expect([done.status, again.status]).toEqual([200, 200])
    expect(again.body.callId).toBe(done.body.callId)
    expect(await world.left(caller)).toMatchObject({ balance: 0.994 })
  })

  test('charges exactly 100 of 200 concurrent calls on credits for 100, and returns no unpaid answer', async () => {
    const caller = await world.caller()
    const requestsBefore = world.upstream.requests.length
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => world.call(caller, 'acme-create-note', { title: 'x' })),
    )
    const of = (status: number) => answers.filter((answer) => answer.status === status).length
    const others = answers.filter(({ status }) => status !== 200 && status !== 402)
    expect(others.map(({ text }) => text)).toEqual([])
    expect([of(200), of(402)]).toEqual([100, 100])
    expect(world.upstream.requests.length - requestsBefore).toBe(100)
    expect(await world.left(caller)).toMatchObject({ credits: 0, balance: 0, locks: 0 })
    expect(await world.locks()).toBe(0)
    expect(await world.service.ledger.differences()).toEqual([])
  })
})
