import { ALLOWED, published } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('POST /rda/{identifier}/unpublish → 409 for an archived asset', async () => {
  const service = await testService(ALLOWED)
  const creator = await service.person()
  const slug = await published(creator)
  await creator.call('POST', `/v1/rda/${slug}/archive`)
  const answer = await creator.call('POST', `/v1/rda/${slug}/unpublish`)
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 409, code: 'rda_archived' })
  await service.close()
})
