import { ALLOWED, published, run } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('POST /rda/{identifier}/archive → 200: unlisted, still runs for earlier callers, and can return', async () => {
  const service = await testService(ALLOWED)
  const creator = await service.person()
  const caller = await service.person()
  const slug = await published(creator)
  await run(caller, slug)

  const answer = await creator.call('POST', `/v1/rda/${slug}/archive`)
  expect(answer.status).toBe(200)
  expect(answer.body.rda.status).toBe('archived')
  expect((await service.call('GET', '/v1/rdas')).body.total).toBe(0)
  expect((await creator.call('GET', '/v1/rdas?status=archived')).body.total).toBe(1)

  await run(caller, slug)
  const stranger = await service.person()
  const body = { rdaSlug: slug, inputs: { article: 'Once' } }
  expect((await stranger.call('POST', '/v1/run', { body })).status).toBe(404)

  expect((await creator.call('POST', `/v1/rda/${slug}/publish`)).body.rda.status).toBe('published')
  expect((await service.call('GET', '/v1/rdas')).body.total).toBe(1)
  await service.close()
})
