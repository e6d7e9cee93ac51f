import { SERVED } from '../../../service/identity/signin/answer.ts'
import { OWN } from '../../../service/tools/mcp/own-tools.ts'
import { testService, type TestService } from '../../harness/service.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  [limit: string]: unknown
}

interface Operation {
  description?: string
  parameters?: { name: string; in: string; schema?: Schema; content?: Record<string, { schema: Schema }> }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

/** Inputs of other programs, or by other protocols, have the bounds that those define. */
const UNBOUNDED = [
  /^(post|get) \/facilitator\//,
  // A length of a text, or any number at all.
  /\.(fields|inputSchema)\[\]\.(min|max)$/,
  // Secrets are compared, never read; payments in headers are as long as headers may be.
  /\?(token|payment|X-PAYMENT|PAYMENT-SIGNATURE)$/,
]

describe('the reference', () => {
  let service: TestService
  let document: { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }
  beforeAll(async () => {
    service = await testService()
    document = (await service.call('GET', '/openapi.json')).body
  })
  afterAll(() => service.close())

  const page = async (group: string): Promise<string> => (await service.call('GET', `/docs/${group}`)).text

  it('has a maximum length, size or number for each field that is sent', async () => {
    const missing: string[] = []
    const seen = new Set<string>()
    const look = (schema: Schema | boolean | undefined, at: string): void => {
      if (typeof schema !== 'object') return
      if (schema.$ref !== undefined) {
        const name = schema.$ref.split('/').at(-1)!
        if (!seen.has(name)) look(document.components.schemas[name], name)
        seen.add(name)
        return
      }
      for (const part of [schema.anyOf, schema.oneOf, schema.allOf].flatMap((parts) => parts ?? [])) look(part, at)
      if (schema.const !== undefined || schema.enum !== undefined) return
      const types = [schema.type].flat()
      const lacks = (limit: string): unknown => schema[limit] === undefined
      if (types.includes('string') && lacks('maxLength') && lacks('format') && lacks('pattern')) missing.push(at)
      const isNumber = types.includes('number') || types.includes('integer')
      if (isNumber && (lacks('maximum') || (lacks('minimum') && lacks('exclusiveMinimum')))) missing.push(at)
      if (types.includes('array') && lacks('maxItems')) missing.push(at)
      for (const [name, property] of Object.entries(schema.properties ?? {})) look(property, `${at}.${name}`)
      look(schema.items, `${at}[]`)
      if (typeof schema.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length > 0) {
        if (lacks('maxProperties')) missing.push(at)
        look(schema.additionalProperties, `${at}.*`)
      }
    }
    const procedures = (await service.call('GET', '/openapi-trpc.json')).body as typeof document
    const all = [...Object.entries(document.paths), ...Object.entries(procedures.paths)]
    Object.assign(document.components.schemas, procedures.components.schemas)
    for (const [path, methods] of all) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
        for (const one of parameters) {
          const schema = one.schema ?? one.content?.['application/json']?.schema
          if (one.in !== 'path') look(schema, `${method} ${path}?${one.name}`)
        }
        look(requestBody?.content['application/json']?.schema, `${method} ${path}`)
      }
    }
    expect(missing.filter((at) => !UNBOUNDED.some((pattern) => pattern.test(at)))).toEqual([])
  })

  it('shows these limits on the page', async () => {
    const text = await page('paywalls')
    expect(text).toMatch(/<code>slug<\/code>.*At most 64 characters/)
    expect(text).toMatch(/<code>routes<\/code>.*At least 1 entry, at most 100 entries/)
    expect(text).toMatch(/<code>routes\[\]\.path<\/code>.*at most 500 characters/i)
    expect(text).toMatch(/<code>upstreamHeaders<\/code>.*at most 50 names/i)
    expect(await page('wallet')).toMatch(/<code>amount<\/code>.*At least 0\.000001, at most 9007199254/)
  })

  it('describes every served route of the sign-in, and no other', async () => {
    const described = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/auth/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice(5)}`))
    // The provider redirects here; no other client calls it.
    const called = [...SERVED].filter((one) => one !== 'GET /oidc/callback')
    expect(described.sort()).toEqual(called.sort())
    const text = await page('sign-in')
    expect(text).toContain('At least 10 characters, at most 128 characters')
    expect(text).toContain('Sign up and create an API key')
  })

  it('answers a sign-in as it is described', async () => {
    const post = (path: string, body: object, session?: string) =>
      service.call('POST', `/auth${path}`, { body, headers: bearer(session) })
    const get = (path: string, session: string) => service.call('GET', `/auth${path}`, { headers: bearer(session) })
    const bearer = (session?: string): Record<string, string> =>
      session === undefined ? {} : { authorization: `Bearer ${session}` }
    const email = 'reader@example.com'
    const signedUp = await post('/sign-up/email', { name: 'Reader', email, password: 'correct horse battery' })
    const token = String(signedUp.body.token)
    const answers = {
      'post /auth/sign-up/email': signedUp,
      'post /auth/sign-in/email': await post('/sign-in/email', { email, password: 'correct horse battery' }),
      'post /auth/siwe/nonce': await post('/siwe/nonce', {}),
      'get /auth/siwe/wallets': await get('/siwe/wallets', token),
      'get /auth/get-session': await get('/get-session', token),
      'get /auth/list-sessions': await get('/list-sessions', token),
      'get /auth/email': await get('/email', token),
      'post /auth/update-user': await post('/update-user', { name: 'Another' }, token),
      'post /auth/change-password': await post(
        '/change-password',
        { currentPassword: 'correct horse battery', newPassword: 'another battery staple' },
        token,
      ),
      'post /auth/revoke-other-sessions': await post('/revoke-other-sessions', {}, token),
      'post /auth/sign-out': await post('/sign-out', {}, token),
    }
    for (const [name, { status, body }] of Object.entries(answers)) {
      expect([name, status]).toEqual([name, 200])
      const [method = '', path = ''] = name.split(' ')
      const operation = document.paths[path]?.[method] as unknown as { responses: Record<string, Described> }
      const schema = operation.responses['200']!.content['application/json']!.schema
      expect([name, ...absentIn(schema, body)]).toEqual([name])
    }
    // And the token that it returned works for the API.
    const again = await post('/sign-in/email', { email, password: 'another battery staple' })
    const me = await service.call('GET', '/v1/me', { headers: bearer(String(again.body.token)) })
    expect(me.status).toBe(200)
  })

  it('describes MCP with both transports, tools and limits, and gates with their headers', async () => {
    expect(Object.keys(document.paths['/tools/mcp']!).sort()).toEqual(['delete', 'get', 'post'])
    const mcp = await page('mcp')
    for (const { name } of OWN) expect(mcp).toContain(`<code>${name}</code>`)
    for (const words of ['Streamable HTTP', 'HTTP+SSE', '60 calls of tools a minute', '10 calls at once', '?key=']) {
      expect(mcp).toContain(words)
    }
    const gate = await page('gate')
    for (const name of ['X-Payment-Token', 'X-Payment-Payer', 'PAYMENT-REQUIRED', 'X-HTTP-Method-Override']) {
      expect(gate).toContain(name)
    }
    expect(gate).toContain('Answer 402')
    expect(gate).toMatch(/<code>accepts<\/code>/)
  })

  it('describes every procedure of the dashboard, with its input and output', async () => {
    const { body } = await service.call('GET', '/openapi-trpc.json')
    const described = Object.keys(body.paths as object).map((path) => path.slice('/trpc/'.length))
    expect(described.sort()).toEqual(Object.keys(service.appRouter._def.procedures).sort())
    const list = body.paths['/trpc/payments.list'].get
    expect(list.security).toEqual([{ bearer: [] }])
    expect(list.parameters[0].content['application/json'].schema.properties).toHaveProperty('customer')
    expect(body.paths['/trpc/market.list'].get.security).toBeUndefined()
    const text = await page('trpc-wallet')
    expect(text).toMatch(/<b>POST<\/b> \/<wbr>trpc\/<wbr>wallet\.withdraw/)
    expect(text).toMatch(/<h3>Fields of input<\/h3>.*<code>days<\/code>.*At least 1, at most 90/s)
    expect(text).toMatch(/<code>result\.data\.newBalance<\/code>/)
    expect(await page('trpc-market')).toContain('Needs no authentication')
  })

  it('has a sample of a body where there is one, and none where nothing is sent', async () => {
    expect(await page('account')).not.toContain('Answer 204')
  })
})

interface Described {
  content: Record<string, { schema: Schema }>
}

/** Fields that are described but missing. */
function absentIn(schema: Schema, value: unknown, at = ''): string[] {
  const whole = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
  if (value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => absentIn(whole.items ?? {}, one, `${at}[]`))
  return Object.entries(whole.properties ?? {}).flatMap(([name, inner]) =>
    Object.hasOwn(value as object, name)
      ? absentIn(inner, (value as Record<string, unknown>)[name], `${at}.${name}`)
      : [`${at}.${name}`],
  )
}
