import { connect } from 'node:net'
import { once } from 'node:events'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('the edge', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService({ BODY_BYTES_MAX: '4096' })
    person = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  test('a body too large is a 413, also when its length was not announced', async () => {
    const large = JSON.stringify({ amount: 1, filler: 'x'.repeat(5000) })
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { raw: large })
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'body_too_large' })
    expect(Object.keys(body.details as object)).toEqual(['body'])
    const port = Number(new URL(service.origin).port)
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /v1/wallet/deposit HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${person.key}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n' +
        `${'x'.repeat(5000)}\r\n`,
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 /)
    socket.destroy()
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a body of type %s is a 415',
    async (type) => {
      const options = { raw: '{"amount": 1}', headers: { 'content-type': type } }
      const { status, body } = await person.call('POST', '/v1/wallet/deposit', options)
      expect({ status, code: body.code }).toEqual({ status: 415, code: 'unsupported_media_type' })
      expect(Object.keys(body.details as object)).toEqual(['content-type'])
    },
  )

  test('a compressed body is a 415', async () => {
    const options = { raw: '{"amount": 1}', headers: { 'content-encoding': 'gzip' } }
    expect((await person.call('POST', '/v1/wallet/deposit', options)).status).toBe(415)
  })

  test('what is not there is a 404 in JSON', async () => {
    const { status, body } = await person.call('GET', '/v1/nothing')
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' })
  })

  test('a path that cannot be read is a 400', async () => {
    expect((await person.call('DELETE', '/v1/keys/%E0%A4%A')).status).toBe(400)
  })

  test('the environment a key is of cannot be contradicted', async () => {
    const headers = { 'coinslot-environment': 'production' }
    expect((await person.call('GET', '/v1/wallet/balance', { headers })).status).toBe(400)
  })

  test('limits are told on every answer, and reached', async () => {
    const limited = await testService({ RATE_API_PER_MINUTE: '3' })
    const { call } = await limited.person()
    const answers = []
    for (let count = 0; count < 4; count++) answers.push(await call('GET', '/v1/me'))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429])
    expect(answers[0]?.headers.get('ratelimit-limit')).toBe('3')
    expect(answers[0]?.headers.get('ratelimit-remaining')).toBe('2')
    const refused = answers[3]
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused?.body).toEqual({ error: expect.any(String), code: 'rate_limited', requestId: expect.any(String) })
    await limited.close()
  })

  test('guessing keys is limited by the address it comes from', async () => {
    const limited = await testService({ RATE_API_PER_MINUTE: '3' })
    const guess = (count: number) => limited.call('GET', '/v1/me', { key: `csk_test_${String(count).repeat(43)}` })
    const statuses = []
    for (let count = 0; count < 4; count++) statuses.push((await guess(count)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
    await limited.close()
  })

  test("another site's page cannot act by the session cookie", async () => {
    const cookie = 'coinslot.session_token=whatever'
    const ask = (origin: string) =>
      service.call('POST', '/v1/keys', { body: { name: 'x' }, headers: { cookie, origin } })
    expect((await ask('https://evil.example')).body.code).toBe('foreign_origin')
    expect((await ask('http://localhost:0')).body.code).toBe('unauthenticated')
  })

  test('security headers, and nothing that says what runs here', async () => {
    const { headers } = await person.call('GET', '/v1/me')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-powered-by')).toBeNull()
  })

  test('other origins are let in by list only', async () => {
    const open = await testService({ CORS_ORIGINS: 'https://app.example' })
    const ask = (origin: string) => open.call('GET', '/healthz', { headers: { origin } })
    expect((await ask('https://app.example')).headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
    await open.close()
  })

  test('alive, ready, measured', async () => {
    expect((await service.call('GET', '/healthz')).body).toEqual({ status: 'ok' })
    expect((await service.call('GET', '/readyz')).body).toMatchObject({ status: 'ready', database: 'ok' })
    const { text } = await service.call('GET', '/metrics')
    expect(text).toContain('coinslot_http_request_seconds_bucket')
    expect(text).toContain('route="/v1/wallet/deposit"')
  })

  test('the reference describes every endpoint that is there', async () => {
    const { body } = await service.call('GET', '/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths as object)).toEqual(
      expect.arrayContaining(['/v1/wallet/balance', '/v1/wallet/deposit', '/v1/me', '/v1/keys', '/v1/keys/{id}']),
    )
    const deposit = body.paths['/v1/wallet/deposit'].post
    const schema = deposit.requestBody.content['application/json'].schema
    expect(schema).toMatchObject({ type: 'object', required: ['amount'], additionalProperties: false })
    expect(schema.properties.amount.type).toBe('number')
    expect(Object.keys(deposit.responses as object)).toEqual(
      expect.arrayContaining(['200', '400', '401', '404', '409', '413', '415', '429']),
    )
    const page = await service.call('GET', '/docs')
    expect(page.status).toBe(200)
    // Nothing of the page is fetched from anywhere else.
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect((await service.call('GET', '/docs/swagger-ui-bundle.js')).status).toBe(200)
  })
})
