import { testService, type TestService } from '../../harness/service.ts'

describe('GET {facilitator_url}/settlements/{network}/{payer}/{nonce}', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('answers settlement_not_found for an authorization that was never claimed here', async () => {
    const path = `/facilitator/settlements/base/0x${'1'.repeat(40)}/0x${'2'.repeat(64)}`
    const { status, body } = await service.call('GET', path)
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'settlement_not_found' })
  })
})
