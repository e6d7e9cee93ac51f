import { ALLOWED, published } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('POST /rda/{identifier}/unpublish → 200: a draft again, for its owner only and not listed', async () => {
  const service = await testService(ALLOWED)
  const creator = await service.person()
  const slug = await published(creator)
  const answer = await creator.call('POST', `/v1/rda/${slug}/unpublish`)
  expect(answer.status).toBe(200)
  expect(answer.body.rda.status).toBe('draft')
  expect((await service.call('GET', `/v1/rda/${slug}`)).status).toBe(401)
  expect((await (await service.person()).call('GET', `/v1/rda/${slug}`)).status).toBe(404)
  expect((await service.call('GET', '/v1/rdas')).body.total).toBe(0)
  expect((await service.call('GET', '/v1/rdas?search=summarizer')).body.total).toBe(0)
  expect((await creator.call('POST', `/v1/rda/${slug}/unpublish`)).body.rda.status).toBe('draft')
  await service.close()
})
