import { ALLOWED, promptBody } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test('POST /rda → 401 without authentication, and nothing is made', async () => {
  const service = await testService(ALLOWED)
  const body = promptBody()
  const answer = await service.call('POST', '/v1/rda', { body })
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 401, code: 'unauthenticated' })
  const wrong = await service.call('POST', '/v1/rda', { body, key: 'csk_test_wrong' })
  expect(wrong.status).toBe(401)
  const person = await service.person()
  expect((await person.call('GET', `/v1/rda/${String(body['slug'])}`)).status).toBe(404)
  await service.close()
})
