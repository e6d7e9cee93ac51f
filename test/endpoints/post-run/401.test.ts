import { testService } from '../../harness/service.ts'

test('POST /run → 401 without a key or with an unknown one, with a runId like every refusal', async () => {
  const service = await testService()
  for (const options of [{}, { key: 'csk_test_nobody' }]) {
    const answer = await service.call('POST', '/v1/run', { body: { rdaSlug: 'x', inputs: {} }, ...options })
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({
      error: expect.any(String),
      code: 'unauthenticated',
      reason: expect.stringMatching(/^(credential_missing|key_unknown)$/),
      requestId: expect.any(String),
      runId: expect.stringMatching(/^run_/),
    })
  }
  await service.close()
})
