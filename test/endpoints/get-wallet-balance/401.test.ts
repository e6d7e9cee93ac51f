import { testService, type TestService } from '../../harness/service.ts'

describe('GET /wallet/balance → 401', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  const credentials: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['an unknown key', { authorization: `Bearer csk_test_${'a'.repeat(43)}` }],
    ['a production key on a sandbox server', { authorization: `Bearer csk_live_${'a'.repeat(43)}` }],
    ['no token', { authorization: 'Bearer ' }],
    ['an unknown token', { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.' }],
    ['a made-up session', { cookie: 'better-auth.session_token=abc.def' }],
  ]
  test.each(credentials)('%s', async (_, headers) => {
    const { status, body, headers: answered } = await service.call('GET', '/v1/wallet/balance', { headers })
    expect(status).toBe(401)
    expect(body).toEqual({
      error: expect.any(String),
      code: 'unauthenticated',
      reason: expect.any(String),
      requestId: answered.get('x-request-id'),
    })
    expect(answered.get('www-authenticate')).toBe('Bearer')
  })

  test('a revoked key, at once', async () => {
    const person = await service.person()
    const { body } = await person.call('GET', '/v1/keys')
    expect((await person.call('DELETE', `/v1/keys/${String(body.keys[0].id)}`)).status).toBeLessThan(300)
    expect((await person.call('GET', '/v1/wallet/balance')).status).toBe(401)
  })
})
