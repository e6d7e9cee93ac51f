import { furnished } from '../trpc/account.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000)
const WRONG: readonly unknown[] = [5, ['a'], { toString: 1 }]

/** For every type of a field and every depth of a body, the error says what is wrong. */
describe('fields of a wrong type', () => {
  let service: TestService
  let person: TestPerson
  let operations: { method: string; path: string; fields: string[] }[]
  beforeAll(async () => {
    service = await testService({
      ...Object.fromEntries(
        ['API', 'SIGN_IN', 'DRAFT_READS', 'VERIFY', 'SETTLE', 'PAY', 'TOOLS', 'GATE'].map((name) => [
          `RATE_${name}_PER_MINUTE`,
          '0',
        ]),
      ),
    })
    const account = await furnished(service)
    person = account.person
    const ids = Object.values(account.ids)
    const { body } = await service.call('GET', '/openapi.json')
    operations = Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const schema = operation.requestBody?.content['application/json']?.schema
        if (schema === undefined) return []
        const id = ids.find((one) => PREFIXES.some(([part, prefix]) => path.includes(part) && one.startsWith(prefix)))
        const target = path.replace(/\{[^}]+\}/g, id ?? 'nobody-has-this')
        return [{ method: method.toUpperCase(), path: target, fields: Object.keys(schema.properties ?? {}) }]
      }),
    )
  })
  afterAll(() => service.close())

  test('are refused at every route, with a key and without', async () => {
    const faults: string[] = []
    const tried = async ({ method, path, fields }: (typeof operations)[number]): Promise<void> => {
      for (const field of new Set(['name', ...fields])) {
        for (const value of WRONG) {
          const options = { body: { [field]: value } }
          const { status, text } = await person.call(method, path, options)
          if (status >= 500 && status !== 503) faults.push(`${method} ${path} ${JSON.stringify(options.body)}: ${text}`)
        }
      }
      for (const call of [person.call, service.call]) {
        const { status, text } = await call(method, path, { raw: DEEP })
        if (status >= 500 || status < 400) faults.push(`${method} ${path} deep: ${String(status)} ${text}`)
      }
    }
    await Promise.all(operations.map(tried))
    expect(operations.length).toBeGreaterThan(20)
    expect(faults).toEqual([])
  })

  test.each([
    ['/auth/sign-up/email', { email: 'one@example.org', password: 'long enough, no doubt', name: 'One' }],
    ['/auth/sign-in/email', { email: 'one@example.org', password: 'long enough, no doubt', rememberMe: true }],
    ['/auth/siwe/verify', { message: 'a', signature: '0x', address: '0x' }],
    ['/auth/siwe/nonce', { address: `0x${'1'.repeat(40)}` }],
    ['/auth/request-password-reset', { email: 'one@example.org', redirectTo: '/' }],
    ['/auth/reset-password', { newPassword: 'long enough, no doubt', token: 'a' }],
    ['/auth/verify-email', { token: 'a', password: 'long enough, no doubt' }],
    ['/auth/send-verification-email', { email: 'one@example.org', callbackURL: '/' }],
    ['/auth/oidc/start', { next: '/' }],
  ])('are refused by the sign-in: %s', async (path, body) => {
    const faults: string[] = []
    for (const field of ['name', 'image', ...Object.keys(body)]) {
      for (const value of WRONG) {
        const { status, text } = await service.call('POST', path, { body: { ...body, [field]: value } })
        if (status >= 500) faults.push(`${field} ${JSON.stringify(value)}: ${String(status)} ${text}`)
      }
    }
    const { status, body: refused } = await service.call('POST', path, { raw: `{"name":${'['.repeat(7_000)}` })
    expect([status, refused.code]).toEqual([400, 'invalid_json'])
    expect(faults).toEqual([])
  })

  test('cause no server error in the sign-in of a signed-in user', async () => {
    const { status, headers } = await service.call('POST', '/auth/sign-up/email', {
      body: { email: 'two@example.org', password: 'long enough, no doubt', name: 'Two' },
    })
    expect(status).toBe(200)
    const cookie = headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    const faults: string[] = []
    for (const path of ['/auth/update-user', '/auth/change-password', '/auth/email/change', '/auth/revoke-session']) {
      for (const field of ['name', 'image', 'newPassword', 'currentPassword', 'email', 'token']) {
        for (const value of WRONG) {
          const options = { body: { [field]: value }, headers: { cookie, origin: 'http://localhost:0' } }
          const { status, text } = await service.call('POST', path, options)
          if (status >= 500) faults.push(`${path} ${field} ${JSON.stringify(value)}: ${String(status)} ${text}`)
        }
      }
    }
    expect(faults).toEqual([])
  })

  test('are refused in a message of MCP', async () => {
    const faults: string[] = []
    for (const method of ['tools/call', 'initialize', 'prompts/get', 'completion/complete']) {
      for (const name of WRONG) {
        const params = { name, arguments: name, clientInfo: { name, version: name }, protocolVersion: name }
        const body = { jsonrpc: '2.0', id: 1, method, params }
        const headers = { accept: 'application/json, text/event-stream' }
        const { status, text } = await person.call('POST', '/tools/mcp', { body, headers })
        if (status >= 500) faults.push(`${method} ${JSON.stringify(name)}: ${String(status)} ${text}`)
      }
    }
    expect(faults).toEqual([])
  })

  test('and too deep a body or input are refused by the dashboard', async () => {
    const deep = '['.repeat(1_000)
    for (const [method, path, raw] of [
      ['POST', '/trpc/keys.create', `{"name":${DEEP}}`],
      ['GET', `/trpc/keys.list?input=${encodeURIComponent(deep)}`, undefined],
    ] as const) {
      const { status, text } = await person.call(method, path, raw === undefined ? {} : { raw })
      expect([status, text]).toEqual([400, expect.stringContaining('nested too deeply')])
    }
  })

  test('and too deep a payment header cause no server error', async () => {
    const payment = Buffer.from(`{"x402Version":1,"payload":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)
    const { status, body } = await service.call('POST', '/tools/pay/acme-ping', {
      headers: { 'x-payment': payment.toString('base64') },
      body: {},
    })
    expect([status < 500, body]).toEqual([true, expect.anything()])
  })
})

interface Operation {
  requestBody?: { content: Record<string, { schema: { properties?: Record<string, unknown> } }> }
}

const PREFIXES = [
  ['/rda', 'rda_'],
  ['/run', 'run_'],
  ['/agents', 'agt_'],
  ['/keys', 'key_'],
  ['/checkouts', 'chk_'],
  ['/p/', 'chk_'],
  ['/paywalls', 'pwl_'],
  ['/webhook-endpoints', 'whe_'],
  ['/deliveries', 'dlv_'],
] as const
