import { createHash } from 'node:crypto'
import { testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** The headers that tell browsers and proxies how to treat each kind of response, over every surface. */
describe('headers', () => {
  let service: TestService
  let person: TestPerson
  let chk: string

  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '0' })
    person = await service.person()
    const common = { network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}`, testMode: true }
    const created = await person.call('POST', '/v1/checkouts', {
      body: { ...common, callbackUrl: 'http://127.0.0.1:9/flow', product: { name: 'Audit' }, price: 1 },
    })
    chk = String(created.body.checkout.id)
    const routes = [{ method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } }]
    const body = { ...common, slug: 'weather', name: 'Weather', upstreamUrl: 'http://127.0.0.1:9', routes }
    expect((await person.call('POST', '/v1/paywalls', { body })).status).toBe(201)
  })
  afterAll(() => service.close())

  const PAGES: readonly (readonly [path: string, status: number])[] = [
    ['/', 200],
    ['/sign-in', 200],
    ['/settings', 200],
    ['/docs', 200],
    ['/p/CHK', 200],
    ['/receipts/verify', 200],
    ['/p/chk_nobodys', 404],
    ['/gate/weather/today', 402],
    ['/v1/approvals/apr_nobodys/page?ticket=x', 404],
  ]
  test.each(PAGES)('page %s runs only its own scripts, cannot be framed, and is not cached', async (path, status) => {
    const answer = await service.call('GET', path.replace('CHK', chk), { headers: { accept: BROWSER } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
    const policy = policyOf(answer)
    expect(policy['frame-ancestors']).toEqual(["'none'"])
    const scripts = policy['script-src'] ?? policy['default-src'] ?? []
    expect(scripts.filter((source) => !/^'(none|self|nonce-[\w+/=]{22,})'$/.test(source))).toEqual([])
    for (const name of ['default-src', 'connect-src', 'form-action', 'base-uri', 'object-src', 'img-src']) {
      const sources = policy[name] ?? []
      expect(sources.filter((source) => !/^('(none|self)'|data:)$/.test(source))).toEqual([])
    }
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    // Every script and style is a file of the service, or has the nonce.
    const nonce = /'nonce-([^']+)'/.exec(scripts.join(' '))?.[1]
    for (const [, tag = '', inner = ''] of answer.text.matchAll(/<((?:script|style)\b[^>]*)>([^<]*)/g)) {
      const ours = / (src|href)="\/(?!\/)/.test(tag) || tag.includes('type="application/json"')
      const known = nonce !== undefined && tag.includes(`nonce="${nonce}"`)
      const hash = `'sha256-${createHash('sha256').update(inner).digest('base64')}'`
      expect(ours || known || policy['style-src']?.includes(hash) === true).toBe(true)
    }
    expect(answer.text).not.toMatch(/\son\w+="/)
  })

  test('a nonce is never used twice', async () => {
    const load = () => service.call('GET', '/', { headers: { accept: BROWSER } })
    const nonces = [await load(), await load()].map((answer) => policyOf(answer)['script-src']!.join())
    expect(nonces[0]).not.toBe(nonces[1])
  })

  const DATA: readonly (readonly [method: string, path: string, status: number, body?: object])[] = [
    ['GET', '/v1/me', 200],
    ['GET', '/v1/signing-secret', 200],
    ['POST', '/v1/keys', 201, { name: 'one' }],
    ['GET', '/v1/wallet/balance', 200],
    ['GET', '/v1/checkouts', 200],
    ['GET', '/v1/nothing', 404],
    ['GET', '/v1/keys/%00', 400],
    ['GET', '/trpc/identity.me', 200],
    ['GET', '/p/CHK', 200],
    ['GET', '/tools', 200],
    ['GET', '/tools/mcp', 401],
    ['GET', '/facilitator/supported', 200],
    ['POST', '/facilitator/verify', 400, {}],
    ['GET', '/auth/get-session', 200],
    ['POST', '/auth/sign-in/email', 401, { email: 'nobody@example.com', password: 'wrong horse battery' }],
    ['GET', '/gate/nothing/x', 404],
    ['GET', '/gate/weather/x', 402],
    ['GET', '/healthz', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/openapi-trpc.json', 200],
  ]
  const requests = DATA.map(([method, path, status, body]) => ({ method, path, status, body }))
  test.each(requests)('$method $path: $status, never cached, and never run as a page', async (expected) => {
    const { method, path, status, body } = expected
    const headers = { accept: 'application/json' }
    const bearer = path.startsWith('/tools/mcp') ? {} : { key: person.key }
    const answer = await service.call(method, path.replace('CHK', chk), { headers, ...bearer, ...(body && { body }) })
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(answer.headers.get('cache-control')).toContain('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    for (const name of ['x-powered-by', 'server', 'etag', 'strict-transport-security'])
      expect([name, answer.headers.get(name)]).toEqual([name, null])
  })

  test('only files of a build may be cached, and their names change with their contents', async () => {
    const { text } = await service.call('GET', '/', { headers: { accept: BROWSER } })
    const file = /src="(\/static\/[^"]+)"/.exec(text)?.[1] ?? ''
    const script = await service.call('GET', file)
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(script.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('another site may read public gates, and nothing behind a cookie', async () => {
    const headers = { origin: 'https://evil.example', cookie: 'coinslot.session_token=x' }
    for (const path of ['/v1/me', '/trpc/identity.me', '/auth/get-session', '/facilitator/supported', '/']) {
      const { headers: answerHeaders } = await service.call('GET', path, { headers })
      expect([path, answerHeaders.get('access-control-allow-origin')]).toEqual([path, null])
      expect([path, answerHeaders.get('access-control-allow-credentials')]).toEqual([path, null])
    }
    // Gates use no cookies: a request that pays is answered, from every origin.
    const gate = await service.call('GET', '/gate/weather/x', { headers })
    expect(gate.headers.get('access-control-allow-origin')).toBe('*')
    expect(gate.headers.get('access-control-allow-credentials')).toBeNull()
  })

  describe('behind TLS', () => {
    let secure: TestService
    beforeAll(async () => {
      const names = ['API', 'TOOLS', 'FACILITATOR', 'PAY', 'GATE', 'DASHBOARD'].map((name) => `PUBLIC_${name}_URL`)
      const paths = ['/v1', '/tools', '/facilitator', '/p', '/gate', '']
      secure = await testService(
        Object.fromEntries(names.map((name, place) => [name, `https://pay.example${paths[place] ?? ''}`])),
      )
    })
    afterAll(() => secure.close())

    test.each(['/', '/v1/me', '/p/chk_nobodys', '/gate/nothing/x', '/docs', '/healthz', '/nothing'])(
      '%s has Strict-Transport-Security',
      async (path) => {
        const { headers } = await secure.call('GET', path, { headers: { accept: BROWSER } })
        expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
      },
    )

    test('the session’s cookie is sent by TLS only, read by no script, and named so that no other host can set it', async () => {
      const body = { email: 'ann@example.com', password: 'correct horse battery', name: 'Ann' }
      const { headers, status } = await secure.call('POST', '/auth/sign-up/email', { body })
      expect(status).toBe(200)
      const cookies = headers.getSetCookie()
      expect(cookies.length).toBeGreaterThan(0)
      for (const cookie of cookies) {
        expect(cookie).toMatch(/^__Secure-coinslot\./)
        expect(cookie).toMatch(/; Secure/)
        expect(cookie).toMatch(/; HttpOnly/)
        expect(cookie).toMatch(/; SameSite=Lax/i)
        expect(cookie).not.toMatch(/; Domain=/i)
      }
    })
  })

  function policyOf(answer: Answer): Record<string, string[]> {
    const parts = (answer.headers.get('content-security-policy') ?? '')
      .split(';')
      .map((part) => part.trim().split(/\s+/))
    return Object.fromEntries(parts.map(([name = '', ...sources]) => [name, sources]))
  }
})
