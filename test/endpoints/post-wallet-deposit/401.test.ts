import { testService, type TestService } from '../../harness/service.ts'

describe('POST /wallet/deposit → 401', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  test('nobody is asking', async () => {
    const { status, body } = await service.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    expect(status).toBe(401)
    expect(Object.keys(body as object)).toEqual(['error', 'code', 'requestId', 'reason'])
  })

  test('is said before the body is looked at', async () => {
    const { status } = await service.call('POST', '/v1/wallet/deposit', { raw: 'not even JSON' })
    expect(status).toBe(401)
  })
})
