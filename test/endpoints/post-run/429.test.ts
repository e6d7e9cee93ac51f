import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 429', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('a tool accepts its calls per minute and no more; a refusal is free, and the next minute starts over', async () => {
    const [one, other] = [await world.caller(1), await world.caller(1)]
    const slug = await world.tool({
      apiEndpoint: world.server.on('/limited', () => ({ body: { ok: true } })),
      rateLimitPerMinute: 5,
    })
    const run = (place: number) => world.run(place % 2 === 0 ? one : other, slug, { inputs: { city: 'Bern' } })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, place) => run(place)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    const [limited] = answers.filter(({ status }) => status === 429)
    expect(limited!.body).toEqual({
      error: expect.any(String),
      code: 'rda_rate_limited',
      requestId: expect.any(String),
      runId: expect.stringMatching(/^run_/),
    })
    expect(Number(limited!.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(world.server.to('/limited')).toHaveLength(5)
    const spent = (await world.wallet(one)).totalSpent + (await world.wallet(other)).totalSpent
    expect(spent).toBeCloseTo(0.05, 6)
    world.service.clock.forward(60_000)
    expect((await run(0)).status).toBe(200)
  })

  test('a caller without money uses none of them up', async () => {
    const slug = await world.tool({
      apiEndpoint: world.server.on('/poor', () => ({ body: { ok: true } })),
      rateLimitPerMinute: 1,
    })
    const poor = await world.caller(0)
    for (let count = 0; count < 3; count++) {
      expect((await world.run(poor, slug, { inputs: { city: 'Bern' } })).status).toBe(402)
    }
    expect((await world.run(await world.caller(1), slug, { inputs: { city: 'Bern' } })).status).toBe(200)
  })
})
