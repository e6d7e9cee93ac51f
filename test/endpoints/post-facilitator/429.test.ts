import { V1 } from '../../facilitator/bodies.ts'
import { testService, type TestService } from '../../harness/service.ts'

describe.each([
  { door: 'verify', other: 'settle', perMinute: 100, refused: { isValid: false } },
  { door: 'settle', other: 'verify', perMinute: 50, refused: { success: false } },
])('POST {facilitator_url}/$door', ({ door, other, perMinute, refused }) => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it(`accepts ${String(perMinute)} requests a minute from one address, malformed or not`, async () => {
    const post = () => service.call('POST', `/facilitator/${door}`, { body: V1.x402Version })
    for (let count = 0; count < perMinute; count++) expect((await post()).status).toBe(400)
    const { status, headers, body } = await post()
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.get('ratelimit-limit')).toBe(String(perMinute))
    expect(body).toMatchObject({ code: 'rate_limited', ...refused })
    // The other limit is another count, and reading has none.
    expect((await service.call('POST', `/facilitator/${other}`, { body: 1 })).status).toBe(400)
    expect((await service.call('GET', '/facilitator/supported')).status).toBe(200)
  })
})
