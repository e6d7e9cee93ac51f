import { runWorld } from './world.ts'

test("figures follow the runs within a second or so; canceled ones, refusals and the creator's own are not in them", async () => {
  const world = await runWorld()
  await world.service.start()
  const caller = await world.caller(10)
  let works = true
  const slug = await world.tool({
    apiEndpoint: world.server.on('/flaky', () => (works ? { body: 'fine' } : { status: 500 })),
  })
  const run = (count: number) =>
    Promise.all(Array.from({ length: count }, () => world.run(caller, slug, { inputs: { city: 'Bern' } })))
  await run(30)
  works = false
  await run(10)
  await world.run(await world.caller(0), slug, { inputs: { city: 'Bern' } })
  await world.run(caller, slug, { inputs: {} })
  // The creator's own say nothing to others.
  await world.creator.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
  const own = await world.run(world.creator, slug, { inputs: { city: 'Bern' } })
  expect(own.body.code).toBe('tool_refused')
  const stats = await world.until(
    async () => (await world.service.call('GET', `/v1/rda/${slug}`)).body.rda.stats as Record<string, number>,
    ({ totalRuns }) => totalRuns === 40,
  )
  expect(stats).toMatchObject({ totalRuns: 40, totalRevenue: 0.3, successRate: 75 })
  expect(stats['averageLatency']).toBeGreaterThan(0)
  expect(await world.service.database.statements.run('SELECT 1 FROM run_delta', [])).toEqual([])
  await world.close()
})
