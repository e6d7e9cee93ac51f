import { testService, type TestService } from '../../harness/service.ts'

describe('GET {facilitator_url}/settlements/{network}/{payer}/{nonce}', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  const payer = `0x${'1'.repeat(40)}`
  const nonce = `0x${'2'.repeat(64)}`

  it.each([
    ['network', `ethereum/${payer}/${nonce}`],
    ['payer', `base/0x12/${nonce}`],
    ['nonce', `base/${payer}/5`],
  ])('names a wrong %s', async (field, path) => {
    const { status, body } = await service.call('GET', `/facilitator/settlements/${path}`)
    expect(status).toBe(400)
    expect(Object.keys(body.details as object)).toEqual([field])
  })
})
