import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('GET /errors and /errors/:code', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterAll(() => service.close())

  test('the index links every page, and each page is public, cacheable and has a cause and a remedy', async () => {
    const index = await service.call('GET', '/errors')
    expect([index.status, index.headers.get('cache-control')]).toEqual([200, 'public, max-age=3600'])
    const links = [...index.text.matchAll(/href="(\/errors\/[a-z0-9_]+)"/g)].map(([, path = '']) => path)
    expect(links.length).toBeGreaterThan(250)
    expect(new Set(links).size).toBe(links.length)
    for (const path of links) {
      const page = await service.call('GET', path)
      expect([path, page.status, page.headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=3600'])
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.text).toContain(`<h1>${path.slice('/errors/'.length)}</h1>`)
      expect(page.text).toMatch(/<h2>Cause<\/h2>\n<p>.+\.<\/p>\n<h2>What to do<\/h2>\n<p>.+\.<\/p>/)
    }
  })

  test('an error links to the page of its code', async () => {
    const { body, headers } = await person.call('GET', '/v1/run/run_nothing')
    expect(headers.get('link')).toBe(`</errors/${String(body.code)}>; rel="help"`)
    expect((await service.call('GET', `/errors/${String(body.code)}`)).status).toBe(200)
    expect((await service.call('GET', '/v1/me')).headers.get('link')).toBe('</errors/unauthenticated>; rel="help"')
  })

  test('a replayed refusal links to it, too', async () => {
    const options = { body: { rdaSlug: 'nothing-here', inputs: {} }, headers: { 'idempotency-key': 'refused-once' } }
    await person.call('POST', '/v1/run', options)
    const replay = await person.call('POST', '/v1/run', options)
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(replay.headers.get('link')).toBe('</errors/rda_not_found>; rel="help"')
  })

  test('a sign-in error links to it, and its page is found in capitals, too', async () => {
    const body = { email: 'nobody@example.com', password: 'wrong horse battery' }
    const refused = await service.call('POST', '/auth/sign-in/email', { body })
    expect([refused.status, refused.body.code]).toEqual([401, 'invalid_email_or_password'])
    expect(refused.headers.get('link')).toBe('</errors/invalid_email_or_password>; rel="help"')
    expect((await service.call('GET', '/errors/INVALID_EMAIL_OR_PASSWORD')).status).toBe(200)
  })

  test('an error of the dashboard names the page', async () => {
    const input = encodeURIComponent(JSON.stringify({ id: 'nothing-here' }))
    const missing = await service.call('GET', `/trpc/market.get?input=${input}`)
    expect(missing.body.error.data).toMatchObject({ reason: 'rda_not_found', help: '/errors/rda_not_found' })
    const malformed = await service.call('GET', '/trpc/no.such.procedure')
    expect(malformed.body.error.data).toMatchObject({ help: '/errors/not_found' })
  })

  test('an error of an MCP call has the whole address, for it belongs to no page', async () => {
    const params = { name: 'call_tool', arguments: { slug: 'none-such', input: {} } }
    const { text } = await person.call('POST', '/tools/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    })
    const { result } = JSON.parse(text.replace(/^[^{]*/, '')) as {
      result: { structuredContent: { error: { code: string; help: string } } }
    }
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'tool_not_found' } } })
    const help = new URL(result.structuredContent.error.help)
    expect((await service.call('GET', help.pathname)).text).toContain('<h1>tool_not_found</h1>')
  })

  test('a code that does not exist is a 404', async () => {
    expect((await service.call('GET', '/errors/nothing_like_it')).status).toBe(404)
  })
})
