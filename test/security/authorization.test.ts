import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { newId, type Prefix } from '../../service/kit/ids.ts'
import { liveSettings } from '../harness/live.ts'
import { testService, type Answer, type CallOptions, type TestPerson, type TestService } from '../harness/service.ts'
import { furnished } from '../trpc/account.ts'
import { MOUNTED, ROUTES, type RouteRequest, type Thing } from './routes.ts'

/** Permissions on every route: callers without a key, ended keys, other accounts, agents, other sites' pages. */
describe('authorization', () => {
  let service: TestService
  let owner: { person: TestPerson; ids: Record<Thing, string> }
  let stranger: TestPerson
  let keys: Record<'revoked' | 'expired' | 'agent' | 'production', string>
  /** The cookie of a user who signed in with a browser. */
  let cookie: string

  beforeAll(async () => {
    service = await testService({
      ...liveSettings(),
      RATE_DRAFT_READS_PER_MINUTE: '0',
      RATE_TOOLS_PER_MINUTE: '0',
      RATE_PAY_PER_MINUTE: '0',
      IDENTITY_HOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    })
    const { person, ids } = await furnished(service)
    owner = { person, ids: { ...ids, paidCall: await paidCallOf(person), toolCall: await toolCallOf(person) } }
    stranger = await service.person()
    keys = {
      revoked: await keyOf({ revoke: true }),
      expired: await keyOf({ expiresAt: new Date(service.clock.now().getTime() + 60_000).toISOString() }),
      agent: await keyOf({ agentId: owner.ids.agent }),
      production: await productionKey(),
    }
    service.clock.forward(61_000)
    cookie = await signedIn()
  })
  afterAll(() => service.close())

  test('every route, mounted path and procedure is covered here', () => {
    const declared = service.served.surfaces.flatMap(({ name, routes }) =>
      routes.map(({ method, path }) => `${name} ${method.toUpperCase()} ${path}`),
    )
    expect(Object.keys(ROUTES).sort()).toEqual(declared.sort())
    expect(Object.keys(MOUNTED).sort()).toEqual([...new Set(service.served.mounted)].sort())
    expect(service.served.upgrades).toEqual(['/gate'])
  })

  describe.each(Object.entries(ROUTES))('%s', (route, [statuses, request = {}]) => {
    const [anonymous, ended, other, agent, page] = statuses.split(' ').map(Number)

    test('answers requests without credentials and with ended keys as its row says', async () => {
      const answer = await send(route, request)
      expect(answer.status).toBe(anonymous)
      if (anonymous === 401)
        expect(answer.body.code).toMatch(/^(unauthenticated|draft_unauthenticated|invalid_signature)$/)
      expect(await status(route, request, { key: keys.revoked })).toBe(ended)
      expect(await status(route, request, { key: keys.expired })).toBe(ended)
      expect(await status(route, request, { key: `csk_test_${'x'.repeat(43)}` })).toBe(ended)
    })

    test('answers another account as its row says, without revealing what exists', async () => {
      const answer = await send(route, request, { key: stranger.key })
      expect([answer.status, answer.text]).toEqual([other, expect.any(String)])
      for (const id of Object.values(owner.ids)) if (id !== idOf(request)) expect(answer.text).not.toContain(id)
      if (request.listed !== undefined) expect(answer.body[request.listed]).toBeInstanceOf(Array)
      if (request.thing === undefined) return
      const nothing = await send(route, request, { key: stranger.key }, ghostOf(request.thing))
      expect(comparable(nothing, ghostOf(request.thing))).toEqual(comparable(answer, idOf(request)))
      const elsewhere = await send(route, request, { key: keys.production })
      expect(comparable(elsewhere, idOf(request))).toEqual(comparable(answer, idOf(request)))
    })

    test("answers an agent's key as its row says", async () => {
      const answer = await send(route, request, { key: keys.agent })
      expect([answer.status, answer.text]).toEqual([agent, expect.any(String)])
      if (agent === 403) expect(answer.body.code).toBe('agent_key_forbidden')
    })

    test("answers another site's page as its row says", async () => {
      for (const origin of ['null', `${service.origin}.evil.example`]) {
        const answer = await send(route, request, { headers: { cookie, origin } })
        expect([answer.status, answer.text]).toEqual([page, expect.any(String)])
        if (page === 403) expect(answer.body.code).toBe('foreign_origin')
        expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      }
    })
  })

  test('checks the credentials before it reads the body', async () => {
    const { status, body } = await service.call('POST', '/v1/wallet/deposit', { raw: 'not even JSON' })
    expect(status).toBe(401)
    expect(Object.keys(body as object)).toEqual(['error', 'code', 'requestId', 'reason'])
  })

  test('none of these requests changed anything of the owner', async () => {
    const look = async (path: string): Promise<Answer> => owner.person.call('GET', path)
    expect((await look(`/v1/rda/${owner.ids.asset}`)).body.rda).toMatchObject({ name: 'Summarizer', status: 'draft' })
    expect((await look(`/v1/agents/${owner.ids.agent}`)).body.agent).toMatchObject({ name: 'Buyer', status: 'active' })
    expect((await look(`/v1/checkouts/${owner.ids.checkout}`)).body.checkout.status).toBe('active')
    expect((await look(`/v1/paywalls/${owner.ids.paywall}`)).body.paywall.name).toBe('Weather')
    expect((await look(`/v1/webhook-endpoints/${owner.ids.endpoint}`)).status).toBe(200)
    expect((await look(`/v1/approvals/${owner.ids.approval}`)).body.approval.status).toBe('pending')
    expect(await service.ledger.differences()).toEqual([])
  })

  test('refuses dashboard procedures without credentials, to ended keys, agents and other sites', async () => {
    const wrong: unknown[] = []
    for (const [name, { _def }] of Object.entries(procedures())) {
      // For visitors without an account: test/trpc/authorization.test.ts covers these.
      if (name.startsWith('market.')) continue
      const mutation = _def.type === 'mutation'
      const requestWith = (options: CallOptions): Promise<Answer> =>
        mutation
          ? service.call('POST', `/trpc/${name}`, { body: {}, ...options })
          : service.call('GET', `/trpc/${name}?input=${encodeURIComponent('{}')}`, options)
      const page = { cookie, origin: 'https://evil.example' }
      const answers = [
        await requestWith({}),
        await requestWith({ key: keys.revoked }),
        await requestWith({ key: keys.expired }),
        await requestWith({ key: keys.agent }),
        ...(mutation ? [await requestWith({ headers: page })] : []),
      ].map(({ status }) => status)
      if (String(answers) !== String([401, 401, 401, 403, ...(mutation ? [403] : [])])) wrong.push([name, answers])
    }
    expect(wrong).toEqual([])
    expect(Object.keys(procedures()).length).toBeGreaterThan(60)
  })

  test("refuses the dashboard's change stream without credentials, to ended keys and agents", async () => {
    const statuses = [undefined, keys.revoked, keys.expired, keys.agent].map(async (key) => {
      const options = key === undefined ? {} : { key }
      return (await service.call('GET', '/trpc/changes', options)).status
    })
    expect(await Promise.all(statuses)).toEqual([401, 401, 401, 403])
  })

  test("the dashboard's own page may act by its cookie", async () => {
    const own = { cookie, origin: 'http://localhost:0' }
    expect((await service.call('POST', '/v1/keys', { headers: own, body: { name: 'mine' } })).status).toBe(201)
    const procedure = await service.call('POST', '/trpc/identity.keys.create', { headers: own, body: { name: 'mine' } })
    expect(procedure.status).toBe(200)
  })

  test("the sign-in refuses requests from another site's page", async () => {
    const paths = [
      'change-password',
      'revoke-sessions',
      'update-user',
      'sign-out',
      'siwe/link',
      'siwe/unlink',
      'email/change',
      'email/confirm',
    ]
    for (const path of paths.map((each) => `/auth/${each}`)) {
      const headers = { cookie, origin: 'https://evil.example' }
      const { status, body } = await service.call('POST', path, { headers, body: { name: 'x' } })
      expect([path, status, typeof body.code]).toEqual([path, 403, 'string'])
    }
    expect((await service.call('GET', '/auth/get-session', { headers: { cookie } })).body.session).toBeTruthy()
  })

  describe('MCP', () => {
    const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
    const initialize = message('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    const headers = { accept: 'application/json, text/event-stream' }
    const callMcp = (body: object, options: CallOptions = {}) =>
      service.call('POST', '/tools/mcp', { ...options, body, headers: { ...headers, ...options.headers } })

    test.each([
      // A guest pays for each call by itself.
      ['no key', 200, undefined],
      ['a revoked key', 401, 'revoked'],
      ['an expired key', 401, 'expired'],
      ["an agent's key", 200, 'agent'],
    ] as const)('%s: %d', async (_, status, name) => {
      const key = name === undefined ? {} : { key: keys[name] }
      expect((await callMcp(initialize, key)).status).toBe(status)
      if (name === undefined) return
      const byAddress = await service.call('POST', `/tools/mcp?key=${keys[name]}`, { body: initialize, headers })
      expect(byAddress.status).toBe(status)
    })

    test('GET, which older clients open a stream with, checks the credentials first', async () => {
      for (const query of ['', `?key=${keys.revoked}`, `?key=${keys.expired}`]) {
        const { status } = await service.call('GET', `/tools/mcp${query}`, { headers: { accept: 'text/event-stream' } })
        expect(status).toBe(401)
      }
    })

    test('a session belongs to its account only', async () => {
      const begun = await callMcp(initialize, { key: owner.person.key })
      const session = { 'mcp-session-id': String(begun.headers.get('mcp-session-id')) }
      expect((await callMcp(message('tools/list'), { key: owner.person.key, headers: session })).status).toBe(200)
      expect((await callMcp(message('tools/list'), { key: stranger.key, headers: session })).status).toBe(404)
      expect((await callMcp(message('tools/list'), { key: keys.production, headers: session })).status).toBe(404)
      expect((await callMcp(message('tools/list'), { headers: session })).status).toBe(404)
      const ended = await service.call('DELETE', '/tools/mcp', { key: stranger.key, headers: session })
      expect(ended.status).toBe(404)
    })

    test("another site's page is refused, with or without a key", async () => {
      const answer = await callMcp(initialize, { key: owner.person.key, headers: { origin: 'https://evil.example' } })
      expect([answer.status, answer.body.code]).toEqual([403, 'foreign_origin'])
    })

    test("another account's tool is not called by its name", async () => {
      const call = message('tools/call', { name: 'call_tool', arguments: { slug: 'acme-ping', input: {} } })
      const known = message('tools/call', { name: 'call_tool', arguments: { slug: 'acme-nothing', input: {} } })
      const [real, ghost] = [await callMcp(call, { key: stranger.key }), await callMcp(known, { key: stranger.key })]
      expect(comparable(real, 'acme-ping')).toEqual(comparable(ghost, 'acme-nothing'))
      expect(real.text).toContain('tool_not_found')
    })
  })

  test('an unknown gate answers 404 paywall_not_found', async () => {
    const { status, body } = await service.call('GET', '/gate/nothing-here/x')
    expect([status, body.code]).toEqual([404, 'paywall_not_found'])
  })

  async function send(
    route: string,
    request: RouteRequest,
    options: CallOptions = {},
    id = idOf(request),
  ): Promise<Answer> {
    const [surface = '', method = '', path = ''] = route.split(' ')
    const { params = {}, query = '', body, at } = request
    const address = new URL(service.served.surfaces.find(({ name }) => name === surface)!.address).pathname
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? id)
    const whole = body === undefined ? undefined : at === undefined ? body : { ...body, [at]: id }
    return service.call(method, address + filled.replace(/^\/$/, '') + query, { ...options, body: whole })
  }

  async function status(route: string, request: RouteRequest, options?: CallOptions): Promise<number> {
    return (await send(route, request, options)).status
  }

  function idOf({ thing }: RouteRequest): string {
    return thing === undefined ? '' : owner.ids[thing]
  }

  /** The response without the requested id, so that responses for different ids can be compared. */
  function comparable({ status, text, headers }: Answer, id: string): unknown {
    const masked = text
      .replaceAll(/"requestId":"[^"]*"/g, '')
      .replaceAll(/\b(run|call)_[0-9a-z]{26}\b/g, '')
      .replaceAll(id, 'ID')
    return [status, headers.get('content-type'), masked]
  }

  async function keyOf({ revoke, ...more }: { revoke?: true; agentId?: string; expiresAt?: string }): Promise<string> {
    const created = await owner.person.call('POST', '/v1/keys', { body: { name: 'key', ...more } })
    if (created.status !== 201) throw new Error(created.text)
    if (revoke === true) await owner.person.call('DELETE', `/v1/keys/${String(created.body.key.id)}`)
    return String(created.body.secret)
  }

  /** As it is stored after a call whose answer can be fetched. */
  async function toolCallOf({ caller }: TestPerson): Promise<string> {
    const at = service.clock.now()
    const id = newId('call', at)
    const who = { id, environment: 'sandbox', userId: caller.user.id, toolId: newId('tool', at) } as const
    const what = { slug: 'acme-ping', provider: 'acme', cost: 1n, attempt: 1, durationMs: 1, endedAt: at }
    await service.database.prisma.toolCall.create({ data: { ...who, ...what } })
    await service.database.prisma.toolAnswer.create({ data: { callId: id, kind: 'json', value: 1, createdAt: at } })
    return id
  }

  /** As it would be stored after a call that cost money: no chain runs here. */
  async function paidCallOf({ caller }: TestPerson): Promise<string> {
    const id = newId('pay', service.clock.now())
    await service.database.prisma.spendingPayment.create({
      data: {
        ...{ id, userId: caller.user.id, environment: 'sandbox', state: 'returned', url: 'http://127.0.0.1:9/' },
        ...{ method: 'GET', requestHash: id, maxAmount: 1n, amount: 1n, network: 'base-sepolia', nonce: id },
        ...{
          payer: `0x${'55'.repeat(20)}`,
          payTo: `0x${'66'.repeat(20)}`,
          validBefore: 1n,
          asked: '{"amount":"1"}',
          seenBlock: 1n,
        },
        ...{ createdAt: new Date(), lookAt: new Date(), endedAt: new Date(), reason: 'expired' },
      },
    })
    return id
  }

  async function productionKey(): Promise<string> {
    const caller = { ...owner.person.caller, environment: 'production' as const }
    const input = { name: 'live', agentId: null, expiresAt: null }
    return (await service.identity.keys.create(caller, input, 'op_live')).secret
  }

  async function signedIn(): Promise<string> {
    const account = privateKeyToAccount(generatePrivateKey())
    const { nonce } = (await service.call('POST', '/auth/siwe/nonce', { body: {} })).body
    const message = createSiweMessage({
      ...{ domain: 'localhost:0', uri: 'http://localhost:0', version: '1', chainId: 8453, issuedAt: new Date() },
      ...{ address: account.address, nonce: String(nonce) },
    })
    const body = { message, signature: await account.signMessage({ message }) }
    const { status, headers, text } = await service.call('POST', '/auth/siwe/verify', { body })
    if (status !== 200) throw new Error(text)
    return headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
  }

  function procedures(): Record<string, { _def: { type: string } }> {
    return service.appRouter._def.procedures as never
  }
})

/** An id that never existed; always the same one for each kind of thing. */
function ghostOf(thing: Thing): string {
  return (GHOSTS[thing] ??= PREFIXES[thing] === null ? 'acme-ghost' : newId(PREFIXES[thing], new Date()))
}
const GHOSTS: Partial<Record<Thing, string>> = {}
const PREFIXES: Record<Thing, Prefix | null> = {
  ...{
    key: 'key',
    asset: 'rda',
    run: 'run',
    agent: 'agt',
    approval: 'apr',
    checkout: 'chk',
    connection: 'cnx',
    coupon: 'cpn',
    delivery: 'dlv',
  },
  ...{
    endpoint: 'whe',
    withdrawal: 'wdr',
    payment: 'pay',
    dispute: 'dsp',
    file: 'file',
    pass: 'pas',
    coupon: 'cpn',
    paywall: 'pwl',
    tool: null,
    provider: null,
    paidCall: 'pay',
    toolCall: 'call',
  },
}
