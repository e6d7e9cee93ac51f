import { until } from '../../harness/until.ts'
import type { TestPerson } from '../../harness/service.ts'
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

  test('one caller leaves half of them to others', async () => {
    const slug = await world.tool({
      apiEndpoint: world.server.on('/shared', () => ({ body: { ok: true } })),
      rateLimitPerMinute: 4,
    })
    const [greedy, other] = [await world.caller(1), await world.caller(1)]
    const run = async (person: TestPerson) => (await world.run(person, slug, { inputs: { city: 'Bern' } })).status
    expect([await run(greedy), await run(greedy), await run(greedy)]).toEqual([200, 200, 429])
    expect([await run(other), await run(other), await run(other)]).toEqual([200, 200, 429])
  })

  test('a run that fails before its call uses none of them up, one that fails after it does', async () => {
    const slug = await world.tool({
      apiEndpoint: world.server.on('/transformed', () => ({ status: 500 })),
      requestTransform: '$exists(city) and city = "Bern" ? $error("no") : {"city": city}',
      rateLimitPerMinute: 1,
    })
    const caller = await world.caller(1)
    const run = async (city: string) => (await world.run(caller, slug, { inputs: { city } })).body.code as string
    expect([await run('Bern'), await run('Bern')]).toEqual(['transform_failed', 'transform_failed'])
    expect([await run('Rome'), await run('Rome')]).toEqual(['tool_refused', 'rda_rate_limited'])
  })

  test('a queued run that is canceled uses none of them up', async () => {
    const slug = await world.tool({
      apiEndpoint: world.server.on('/canceled', () => ({ body: { ok: true } })),
      rateLimitPerMinute: 1,
    })
    const [one, other] = [await world.caller(1), await world.caller(1)]
    const inputs = { city: 'Bern' }
    const { body } = await world.run(one, slug, { inputs, async: true })
    const canceled = await one.call('POST', `/v1/runs/${body.runId as string}/cancel`)
    expect(canceled.body).toMatchObject({ canceled: true, run: { status: 'canceled' } })
    expect((await world.run(other, slug, { inputs })).status).toBe(200)
    expect(world.server.to('/canceled')).toHaveLength(1)
  })

  test('queued runs that have waited are called at the same rate, and each is paid when it was called', async () => {
    const slug = await world.tool({
      apiEndpoint: world.server.on('/waited', () => ({ body: { ok: true } })),
      rateLimitPerMinute: 1,
    })
    const caller = await world.caller(1)
    for (let count = 0; count < 3; count++) {
      expect((await world.run(caller, slug, { inputs: { city: 'Bern' }, async: true })).status).toBe(202)
      world.service.clock.forward(61_000)
    }
    await world.service.start()
    for (const called of [1, 2, 3]) {
      // All that could be called has been, and what is left is announced for the next minute.
      await until(async () => {
        const left = await postponed()
        return world.server.to('/waited').length + left >= 3 && (await settled(caller)) + left >= 3
      })
      expect(world.server.to('/waited')).toHaveLength(called)
      expect((await world.wallet(caller)).totalSpent).toBeCloseTo(0.01 * called, 6)
      world.service.clock.forward(61_000)
    }
    expect(await settled(caller)).toBe(3)
  })

  async function settled(caller: TestPerson): Promise<number> {
    const { runs } = (await caller.call('GET', '/v1/runs?status=succeeded')).body
    return (runs as unknown[]).length
  }

  async function postponed(): Promise<number> {
    const rows = await world.service.database.statements.run(
      `SELECT 1 FROM outbox WHERE topic LIKE 'marketplace.execute%' AND done_at IS NULL AND due_at > $1`,
      [world.service.clock.now()],
    )
    return rows.length
  }
})
