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

  test('an unknown route is a 404 in JSON', async () => {
    const { status, body } = await person.call('GET', '/v1/nothing')
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' })
  })

  const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

  test('a browser gets a page where nothing is, with the path as text and the way to the overview', async () => {
    for (const path of ['/nothing', '/v1/nothing', '/docs/nothing', '/tools/pay/x/y/z', '/facilitator/nothing']) {
      const answer = await service.call('GET', path, { headers: BROWSER })
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
      expect(answer.text).toContain(`There is no page at <code>${path}</code>`)
      expect(answer.text).toContain('>Go to overview</a>')
    }
    const hostile = await service.call('GET', '/%3Cscript%3E"\'&<b>', { headers: BROWSER })
    expect([hostile.status, hostile.text.includes('<b>'), hostile.text.includes('<script')]).toEqual([
      404,
      false,
      false,
    ])
    const posted = await service.call('POST', '/nothing', { headers: BROWSER, body: {} })
    expect([posted.status, posted.body.code]).toEqual([404, 'not_found'])
  })

  test.each([
    ['/tools', 'Tools', '/docs/tools'],
    ['/facilitator', 'Facilitator', '/docs/facilitator'],
  ])('a browser gets a page at %s with a link to its reference', async (path, title, docs) => {
    const page = await service.call('GET', path, { headers: BROWSER })
    expect([page.status, page.headers.get('vary')]).toEqual([200, expect.stringContaining('Accept')])
    expect(page.text).toContain(`<h1>${title}</h1>`)
    expect(page.text).toContain(docs)
    expect((await service.call('GET', docs, { headers: BROWSER })).status).toBe(200)
  })

  test.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9'])(
    'programs that accept %s get the JSON that they always got',
    async (accept) => {
      const headers = accept === undefined ? {} : { accept }
      expect((await service.call('GET', '/tools', { headers })).body).toMatchObject({
        tools: expect.any(Array),
        offset: 0,
      })
      for (const path of ['/facilitator', '/nothing']) {
        const { status, body } = await service.call('GET', path, { headers })
        expect([status, body.code]).toEqual([404, 'not_found'])
      }
      const filtered = await service.call('GET', '/tools?limit=1', { headers: BROWSER })
      expect(filtered.body).toMatchObject({ limit: 1 })
    },
  )

  test('the root answers with three lines: the dashboard, the API and its description', async () => {
    const { status, headers, text } = await service.call('GET', '/')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const lines = text.trim().split('\n')
    expect(lines).toHaveLength(3)
    for (const [nth, words] of ['Dashboard: http', 'API: http', '/openapi.json'].entries())
      expect(lines[nth]).toContain(words)
  })

  test('the reference names the header that chooses the environment', async () => {
    const { body } = await service.call('GET', '/openapi.json')
    expect(body.components.securitySchemes.bearer.description).toContain('Coinslot-Environment: production')
  })

  test('a path that cannot be read is a 400', async () => {
    expect((await person.call('DELETE', '/v1/keys/%E0%A4%A')).status).toBe(400)
  })

  test('the environment a key is of cannot be contradicted', async () => {
    const headers = { 'coinslot-environment': 'production' }
    expect((await person.call('GET', '/v1/wallet/balance', { headers })).status).toBe(400)
  })

  test("every answer has the rate limit's headers, and the limit answers 429", async () => {
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

  test("limits guessed keys by the caller's address", async () => {
    const limited = await testService({ RATE_API_PER_MINUTE: '3' })
    const guess = (count: number) => limited.call('GET', '/v1/me', { key: `csk_test_${String(count).repeat(43)}` })
    const statuses = []
    for (let count = 0; count < 4; count++) statuses.push((await guess(count)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
    await limited.close()
  })

  test("another site's page cannot act by the session cookie", async () => {
    const cookie = 'coinslot.session_token=whatever'
    const requestFrom = (origin: string) =>
      service.call('POST', '/v1/keys', { body: { name: 'x' }, headers: { cookie, origin } })
    expect((await requestFrom('https://evil.example')).body.code).toBe('foreign_origin')
    // A browser that sends no Origin still says where its page is.
    for (const [site, code] of [
      ['cross-site', 'foreign_origin'],
      ['same-site', 'foreign_origin'],
      ['same-origin', 'unauthenticated'],
    ] as const) {
      const headers = { cookie, 'sec-fetch-site': site }
      const answer = await service.call('POST', '/v1/keys', { body: { name: 'x' }, headers })
      expect([site, answer.body.code]).toEqual([site, code])
      const signOut = await service.call('POST', '/auth/sign-out', { body: {}, headers })
      expect([site, signOut.body.code === 'foreign_origin']).toEqual([site, code === 'foreign_origin'])
    }
    expect((await requestFrom('http://localhost:0')).body.code).toBe('unauthenticated')
  })

  test('sends security headers, and none that names the software', async () => {
    const { headers } = await person.call('GET', '/v1/me')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-powered-by')).toBeNull()
  })

  test('allows other origins from a list only', async () => {
    const open = await testService({ CORS_ORIGINS: 'https://app.example' })
    const requestFrom = (origin: string) => open.call('GET', '/healthz', { headers: { origin } })
    expect((await requestFrom('https://app.example')).headers.get('access-control-allow-origin')).toBe(
      'https://app.example',
    )
    expect((await requestFrom('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
    await open.close()
  })

  test('is not ready before the catalogue is loaded', async () => {
    // With demo servers the sandbox's own tools are put in by the start, which this one never gets to.
    const starting = await testService({ DEMO_PORT: '1' })
    expect(await starting.call('GET', '/readyz')).toMatchObject({ status: 503, body: { status: 'loading catalogue' } })
    await starting.close()
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
  })

  it('shows the same as pages that load nothing, weigh little, and have a sample of each endpoint', async () => {
    const overview = await service.call('GET', '/docs')
    expect(overview.status).toBe(200)
    const groups = [...overview.text.matchAll(/<a href="(\/docs\/[a-z0-9-]+)"/g)].map(([, href]) => href!)
    expect(groups).toContain('/docs/checkouts')
    const samples: string[] = []
    for (const path of ['/docs', ...new Set(groups)]) {
      const page = await service.call('GET', path)
      expect([path, page.status]).toEqual([path, 200])
      expect([path, page.text.length < 300_000]).toEqual([path, true])
      expect(page.text).not.toMatch(/<script|(src|href)="(https?:)?\/\//)
      samples.push(...(page.text.match(/<h3>Request<\/h3>/g) ?? []))
    }
    const documents = ['/openapi.json', '/openapi-trpc.json'].map((path) => service.call('GET', path))
    const operations = (await Promise.all(documents)).flatMap(({ body }) =>
      Object.values(body.paths as object).flatMap((methods) => Object.keys(methods as object)),
    )
    expect(samples).toHaveLength(operations.length)
    expect((await service.call('GET', '/docs/nothing')).status).toBe(404)
  })
})
