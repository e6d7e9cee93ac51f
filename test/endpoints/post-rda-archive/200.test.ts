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

  // What the creator edits meanwhile is theirs until it is published.
  await creator.call('PATCH', `/v1/rda/${slug}`, { body: { promptConfig: { promptTemplate: 'Unfinished' } } })
  const body = { rdaSlug: slug, inputs: { article: 'Once' } }
  const ran = await caller.call('POST', '/v1/run', { body })
  expect([ran.status, ran.body.output]).toEqual([200, expect.stringContaining('Sum up')])
  const stranger = await service.person()
  expect((await stranger.call('POST', '/v1/run', { body })).status).toBe(404)

  expect((await creator.call('POST', `/v1/rda/${slug}/publish`)).body.rda.status).toBe('published')
  expect((await service.call('GET', '/v1/rdas')).body.total).toBe(1)
  await service.close()
})
