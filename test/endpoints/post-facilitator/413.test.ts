import { V2 } from '../../facilitator/bodies.ts'
import { testService, type TestService } from '../../harness/service.ts'

describe.each([
  { door: 'verify', refused: { isValid: false } },
  { door: 'settle', refused: { success: false } },
])('POST {facilitator_url}/$door', ({ door, refused }) => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('accepts 64 KB and not one byte more', async () => {
    const bare = JSON.stringify({ ...V2, payment: '' }).length
    const sized = (bytes: number) => ({ body: { ...V2, payment: 'x'.repeat(bytes - bare) } })
    const most = await service.call('POST', `/facilitator/${door}`, sized(65_536))
    expect(most.status).toBe(503)
    const { status, body } = await service.call('POST', `/facilitator/${door}`, sized(65_537))
    expect(status).toBe(413)
    expect(body).toMatchObject({ code: 'body_too_large', ...refused })
  })
})
