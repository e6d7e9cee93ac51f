import { ALLOWED, promptBody } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('POST /rda/{identifier}/publish → 200: lists the asset publicly; a repetition changes nothing', async () => {
  const service = await testService(ALLOWED)
  const creator = await service.person()
  const body = promptBody()
  const path = `/v1/rda/${String(body['slug'])}`
  await creator.call('POST', '/v1/rda', { body })
  expect((await service.call('GET', '/v1/rdas')).body.total).toBe(0)

  const answer = await creator.call('POST', `${path}/publish`)
  expect(answer.status).toBe(200)
  expect(answer.body.rda).toMatchObject({ status: 'published', version: '1.0.0' })
  expect(answer.body.rda.publishedAt).toBe(answer.body.rda.updatedAt)
  expect((await service.call('GET', path)).body.rda.status).toBe('published')
  expect((await service.call('GET', '/v1/rdas')).body).toMatchObject({ total: 1, rdas: [{ slug: body['slug'] }] })

  service.clock.forward(60_000)
  expect((await creator.call('POST', `${path}/publish`)).body).toEqual(answer.body)
  await service.close()
})
