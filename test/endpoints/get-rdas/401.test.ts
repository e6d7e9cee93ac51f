import { testService } from '../../harness/service.ts'

test('GET /rdas → 401 for drafts and archived assets without authentication', async () => {
  const service = await testService()
  for (const status of ['draft', 'archived']) {
    const answer = await service.call('GET', `/v1/rdas?status=${status}`)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 401, code: 'unauthenticated' })
  }
  expect((await service.call('GET', '/v1/rdas', { key: 'csk_test_wrong' })).status).toBe(401)
  await service.close()
})
