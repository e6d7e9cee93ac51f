import { ALLOWED, published } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test("PATCH /rda/{identifier} → 404 for another account's asset; 401 without authentication", async () => {
  const service = await testService(ALLOWED)
  const slug = await published(await service.person())
  const other = await service.person()
  for (const path of [`/v1/rda/${slug}`, '/v1/rda/no-such-asset']) {
    const answer = await other.call('PATCH', path, { body: { name: 'Mine now' } })
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 404, code: 'rda_not_found' })
  }
  expect((await service.call('PATCH', `/v1/rda/${slug}`, { body: { name: 'Mine now' } })).status).toBe(401)
  expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.name).toBe('Summarizer')
  await service.close()
})
