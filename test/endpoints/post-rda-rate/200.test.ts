import { ALLOWED, published, run } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test("POST /rda/{identifier}/rate → 200: updates the asset's public average at once", async () => {
  const service = await testService(ALLOWED)
  const slug = await published(await service.person())
  const scores = [5, 4, 4]
  for (const score of scores) {
    const caller = await service.person()
    await run(caller, slug)
    const answer = await caller.call('POST', `/v1/rda/${slug}/rate`, { body: { score } })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ rated: true, score })
  }
  const { stats } = (await service.call('GET', `/v1/rda/${slug}`)).body.rda
  expect(stats).toMatchObject({ totalRatings: 3, averageRating: 4.33 })
  expect((await service.call('GET', '/v1/rdas')).body.rdas[0].stats.averageRating).toBe(4.33)
  await service.close()
})
