import { testService, type TestService } from '../../harness/service.ts'

describe('GET /rda/{id}/runs → 401', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  test('without a key, also of an asset that there is not', async () => {
    const { status, body } = await service.call('GET', '/v1/rda/anything/runs')
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
  })
})
