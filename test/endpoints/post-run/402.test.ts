import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 402', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('names the required and the available amount, and moves nothing', async () => {
    const caller = await world.caller(0.01)
    const answer = await world.run(caller, await world.prompt())
    expect(answer.status).toBe(402)
    expect(answer.body).toEqual({
      error:
        "Insufficient balance: this costs 0.02 USDC, the wallet has 0.01 USDC available. Credits pay for the platform's tools only. Add funds and try again.",
      code: 'insufficient_balance',
      requestId: expect.any(String),
      required: 0.02,
      available: 0.01,
      runId: expect.stringMatching(/^run_/),
    })
    expect(await world.wallet(caller)).toMatchObject({ balance: 0.01, availableBalance: 0.01, pendingLocks: {} })
    expect((await caller.call('GET', '/v1/runs')).body.total).toBe(0)
    const lookup = await caller.call('GET', `/v1/runs/${String(answer.body.runId)}`)
    expect([lookup.status, lookup.body.error]).toEqual([404, expect.stringContaining('started no run')])
  })

  test('free credits do not count: they must not become a creator’s cash', async () => {
    const caller = await world.caller(0)
    expect((await caller.call('GET', '/v1/credits')).body.credits.balance).toBe(5)
    expect((await world.run(caller, await world.prompt())).body).toMatchObject({
      error: expect.stringContaining("Credits pay for the platform's tools only. Add funds"),
      required: 0.02,
      available: 0,
    })
  })

  test('refuses a price above maxCost before the run starts', async () => {
    const caller = await world.caller(1)
    const answer = await world.run(caller, await world.prompt(), { maxCost: 0.019999 })
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({
      code: 'max_cost_exceeded',
      required: 0.02,
      available: 1,
      maxCost: 0.019999,
      runId: expect.stringMatching(/^run_/),
    })
  })

  test('is not stored under its Idempotency-Key: after a top-up the same request runs', async () => {
    const caller = await world.caller(0.01)
    const asset = await world.prompt()
    const run = () => world.run(caller, asset, {}, { 'idempotency-key': 'top-up' })
    expect((await run()).status).toBe(402)
    expect((await caller.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })).status).toBe(200)
    const [done, again] = [await run(), await run()]
    expect([done.status, again.status]).toEqual([200, 200])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await world.wallet(caller)).toMatchObject({ balance: 0.99 })
  })

  test('with async too', async () => {
    const caller = await world.caller(0)
    const answer = await world.run(caller, await world.prompt(), { async: true })
    expect([answer.status, answer.body.code]).toEqual([402, 'insufficient_balance'])
  })
})
