import { V1 } from '../../facilitator/bodies.ts'
import { testService, type TestService } from '../../harness/service.ts'

describe('POST {facilitator_url}/settle', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('is asked 50 times a minute by one address, malformed or not', async () => {
    const ask = () => service.call('POST', '/facilitator/settle', { body: V1.x402Version })
    for (let count = 0; count < 50; count++) expect((await ask()).status).toBe(400)
    const { status, headers, body } = await ask()
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.get('ratelimit-limit')).toBe('50')
    expect(body).toMatchObject({ code: 'rate_limited', success: false })
    // The other limit is another count, and reading has none.
    expect((await service.call('POST', '/facilitator/verify', { body: 1 })).status).toBe(400)
    expect((await service.call('GET', '/facilitator/supported')).status).toBe(200)
  })
})
