import { MALFORMED, V2 } from '../../facilitator/bodies.ts'
import { testService, type TestService } from '../../harness/service.ts'

const VERIFIED = {
  ...{ isValid: false, invalidReason: 'invalid_payload', payer: null },
  ...{ valid: false, reason: expect.any(String) as unknown },
}
const SETTLED = {
  ...{ success: false, transaction: '', txHash: null, network: '', payer: null, settled: false, status: 'failed' },
  ...{ errorReason: 'invalid_payload', error_reason: 'invalid_payload', errorMessage: expect.any(String) as unknown },
}

describe.each([
  { door: 'verify', refused: VERIFIED },
  { door: 'settle', refused: SETTLED },
])('POST {facilitator_url}/$door', ({ door, refused }) => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ RATE_VERIFY_PER_MINUTE: '0', RATE_SETTLE_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const post = (options: Parameters<TestService['call']>[2]) => service.call('POST', `/facilitator/${door}`, options)
  it.each(MALFORMED)('$name', async ({ body, field }) => {
    const answer = await post({ body })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      ...refused,
      error: expect.stringContaining(':'),
      code: 'invalid_input',
      requestId: expect.stringMatching(/^req_/),
      details: { [field]: expect.any(String) },
    })
  })

  it.each([
    ['no JSON', 'x402', 'invalid_json'],
    ['half of a JSON', JSON.stringify(V2).slice(0, -9), 'invalid_json'],
    ['bytes that are no text', Uint8Array.of(0x22, 0xff, 0xfe, 0x22), 'invalid_json'],
    ['a list', '[]', 'invalid_input'],
    ['null', 'null', 'invalid_input'],
    ['a text', '"pay"', 'invalid_input'],
    ['a number', '402', 'invalid_input'],
    ['nothing', '', 'invalid_input'],
    ['an empty object', '{}', 'invalid_input'],
    ['deep nesting', '['.repeat(30_000) + ']'.repeat(30_000), 'invalid_json'],
  ])('%s', async (_name, raw, code) => {
    const { status, body } = await post({ raw })
    expect(status).toBe(400)
    expect(body).toMatchObject({ ...refused, code })
  })
})
