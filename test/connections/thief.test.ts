import { newId } from '../../service/kit/ids.ts'
import type { AuthScheme } from '../../service/tools/model/tool.ts'
import type { TestPerson } from '../harness/service.ts'
import { importRequest } from '../tools/calls/world.ts'
import { mcpStranger, type Stranger as McpStranger } from '../tools/mcp-stranger.ts'
import { connectionWorld, type ConnectionWorld } from './world.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

/** Someone with the source, an account of their own and keys of its agents. */
describe('a thief of connections', () => {
  let world: ConnectionWorld
  let mcp: McpStranger
  beforeAll(async () => {
    world = await connectionWorld({ VAULT_KEY })
    mcp = await mcpStranger([{ name: 'send', description: 'Send a note', inputSchema: { type: 'object' } }])
  })
  beforeEach(() => {
    world.company.onCall = null
  })
  afterAll(async () => {
    await world.close()
    await mcp.close()
  })

  const apiCalls = () => world.company.to('/me').length
  const callWith = (key: string, connection: string, headers: Record<string, string> = {}) =>
    world.call(key, 'notes-write', {}, { 'x-connection': connection, ...headers })

  async function agentOf(person: TestPerson, name: string, rules: object = {}): Promise<{ id: string; key: string }> {
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name, ...rules } })).body
    const caller = { ...person.caller, agentId: null }
    const wanted = { name, agentId: String(agent.id) as `agt_${string}`, expiresAt: null }
    const { secret } = await world.service.identity.keys.create(caller, wanted, newId('op', new Date()))
    return { id: String(agent.id), key: secret }
  }

  /** A provider of the account's own. */
  async function own(
    person: TestPerson,
    slug: string,
    scheme: object,
    { server, auth = null }: { server: string; auth?: AuthScheme | null },
  ): Promise<void> {
    const document = {
      openapi: '3.1.0',
      info: { title: slug, version: '1' },
      components: { securitySchemes: { only: scheme } },
      paths: {
        '/me': {
          get: { operationId: 'me', security: [{ only: [] }], responses: { 200: { description: 'Done' } } },
        },
      },
    }
    const about = { slug, name: slug, ownerId: person.caller.user.id, trusted: true, auth }
    const request = importRequest(server, about)
    await world.service.catalogue.importDocument(request, JSON.stringify(document))
  }

  test('names the connection of another account, or of another agent, and the provider is not asked', async () => {
    const [victim, thief] = [await world.connected('vera'), await world.connected('theo')]
    const [mine, other] = [await agentOf(victim, 'mine'), await agentOf(victim, 'other')]
    const bound = await victim.call('POST', '/v1/connections/authorize', {
      body: { provider: 'notes', name: 'of-my-agent', agentId: mine.id },
    })
    const query = world.company.allow(String(bound.body.authorizationUrl), 'vera.agent')
    const { id } = await world.service.connections.finish(victim.caller, query)
    expect((await callWith(mine.key, id)).body.output).toEqual({ who: 'vera.agent' })

    const before = apiCalls()
    const tries = [
      ...[thief.key].flatMap((key) => [victim.connectionId, id, 'of-my-agent'].map((named) => [key, named] as const)),
      // The account's own key, too: only that agent's calls use it.
      ...[other.key, victim.key].flatMap((key) => [id, 'of-my-agent'].map((named) => [key, named] as const)),
    ]
    for (const [key, named] of tries) {
      expect((await callWith(key, named)).body).toMatchObject({ code: 'connection_required' })
    }
    expect(apiCalls()).toBe(before)
    // Nor is it begun anew, renamed or tested by others, or managed by its agent.
    const again = { body: { provider: 'notes', connectionId: id } }
    expect((await thief.call('POST', '/v1/connections/authorize', again)).status).toBe(404)
    const listed = await world.service.call('GET', '/v1/connections', { key: mine.key })
    expect([listed.status, listed.body.code]).toEqual([403, 'agent_key_forbidden'])
    const bindsForeign = { body: { provider: 'notes', agentId: mine.id } }
    expect((await thief.call('POST', '/v1/connections/authorize', bindsForeign)).status).toBe(400)
  })

  /** The account's second connection at the provider. */
  async function connectSecond(person: TestPerson, who: string): Promise<void> {
    const body = { provider: 'notes', name: 'second' }
    const begun = await person.call('POST', '/v1/connections/authorize', { body })
    await world.service.connections.finish(person.caller, world.company.allow(String(begun.body.authorizationUrl), who))
  }

  test('uses the approval of a call for another connection, and has to ask again', async () => {
    const person = await world.connected('ada')
    await connectSecond(person, 'ada.second')
    const agent = await agentOf(person, 'buyer', { approvalAbove: 0.005 })
    const asked = async (connection: string): Promise<string> => {
      const answer = await callWith(agent.key, connection)
      expect([answer.status, answer.body.code]).toEqual([202, 'approval_required'])
      return String(answer.body.approvalId)
    }
    const first = await asked(person.connectionId)
    expect((await person.call('POST', `/v1/approvals/${first}/approve`)).status).toBe(200)
    const before = apiCalls()
    const second = await asked('second')
    expect([second === first, apiCalls()]).toEqual([false, before])
    expect((await callWith(agent.key, person.connectionId)).body.output).toEqual({ who: 'ada' })
    // The id and the name mean the same connection.
    expect((await person.call('POST', `/v1/approvals/${second}/approve`)).status).toBe(200)
    const { body } = await person.call('GET', '/v1/connections')
    const { id } = (body.connections as { id: string; name: string }[]).find(({ name }) => name === 'second')!
    expect((await callWith(agent.key, id)).body.output).toEqual({ who: 'ada.second' })
  })

  test('repeats a call under its key with another connection, and gets no answer of the first one', async () => {
    const person = await world.connected('wim')
    await connectSecond(person, 'wim.second')
    const key = { 'idempotency-key': 'once' }
    expect((await callWith(person.key, person.connectionId, key)).body.output).toEqual({ who: 'wim' })
    expect((await callWith(person.key, 'second', key)).body).toMatchObject({ code: 'idempotency_conflict' })
    expect((await callWith(person.key, person.connectionId, key)).body.output).toEqual({ who: 'wim' })
    const agent = await agentOf(person, 'another')
    expect((await callWith(agent.key, 'second', key)).body.output).toEqual({ who: 'wim.second' })
  })

  test('fetches the result of a call of another account or agent', async () => {
    const [victim, thief] = [await world.connected('xena'), await world.caller()]
    const [mine, other] = [await agentOf(victim, 'mine'), await agentOf(victim, 'other')]
    const { body } = await world.call(mine.key, 'notes-write', {}, { 'idempotency-key': 'kept' })
    const read = (key: string) => world.service.call('GET', `/v1/tool-calls/${String(body.callId)}`, { key })
    expect((await read(mine.key)).body.output).toEqual({ who: 'xena' })
    for (const key of [thief.key, other.key]) expect((await read(key)).status).toBe(404)
  })

  test.each(['line\r\nBcc: all@example.com', 'line\u2028break', 'right\u202eleft'])(
    'names a connection %j, which a mail would show',
    async (name) => {
      const person = await world.connected('yan')
      const refused = await person.call('PATCH', `/v1/connections/${person.connectionId}`, { body: { name } })
      expect([refused.status, refused.body.details]).toEqual([400, { name: 'must be one line of text' }])
      for (const path of ['/v1/connections', '/v1/connections/authorize']) {
        expect((await person.call('POST', path, { body: { provider: 'notes', name } })).status).toBe(400)
      }
    },
  )

  test.each(['a b', 'a\r\nX-Evil:1', 'a"', 'é'.repeat(3)])('asks for the scope %j', async (scope) => {
    const person = await world.caller()
    const body = { provider: 'notes', scopes: [scope] }
    const answer = await person.call('POST', '/v1/connections/authorize', { body })
    if (scope !== 'a"') return expect(answer.status).toBe(400)
    // Sent as what it is, and nothing beside it.
    expect(new URL(String(answer.body.authorizationUrl)).searchParams.getAll('scope')).toEqual(['notes a"'])
  })

  test.each(['Host', 'Content-Length', 'Transfer-Encoding', 'X\r\nEvil', ''])(
    'has a document or its import say that the key is in the header %j: nothing is sent',
    async (header) => {
      const person = await world.caller()
      const slug = `evil-${Buffer.from(header).toString('hex').slice(0, 20)}x`
      const scheme = { type: 'apiKey', in: 'header', name: header }
      const server = world.company.origin
      await expect(own(person, slug, scheme, { server })).rejects.toMatchObject({ code: 'document_refused' })
      await own(person, slug, scheme, { server, auth: { kind: 'apiKey', in: 'header', name: header } })
      await person.call('POST', '/v1/connections', { body: { provider: slug, secret: 'a-secret-of-mine' } })
      const before = apiCalls()
      const answer = await world.call(person, `${slug}-me`)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.text).not.toContain('a-secret-of-mine')
      expect(apiCalls()).toBe(before)
    },
  )

  test.each([
    'https://169.254.169.254/token',
    'https://10.0.0.1/token',
    'http://example.com/token',
    'https://[::1]/token',
  ])('names %s as the place of tokens: nothing is sent there, and nothing stored', async (tokenUrl) => {
    const person = await world.caller()
    const flows = { clientCredentials: { tokenUrl, scopes: {} } }
    await own(person, 'inner', { type: 'oauth2', flows }, { server: 'https://api.example.com' })
    const body = { provider: 'inner', client: { id: 'me', secret: 'a-secret-of-mine' } }
    const refused = await person.call('POST', '/v1/connections', { body })
    expect([400, 502]).toContain(refused.status)
    expect(refused.text).not.toContain('a-secret-of-mine')
    expect(await world.connections(person)).toEqual([])
  })

  test('has a key tested at a server without encryption: the key does not travel', async () => {
    const person = await world.caller()
    const scheme = { type: 'apiKey', in: 'header', name: 'X-Key' }
    await own(person, 'plain', scheme, { server: 'http://plain.example.com' })
    const body = { provider: 'plain', secret: 'a-secret-of-mine' }
    const { connection } = (await person.call('POST', '/v1/connections', { body })).body
    const tested = await person.call('POST', `/v1/connections/${String(connection.id)}/test`)
    // No tool was found that the key may be sent to.
    expect(tested.body).toEqual({ ok: null, tool: null, status: null })
    expect((await world.call(person, 'plain-me')).body.error).toContain('not on https')
  })

  test('has an MCP server repeat the token in its progress', async () => {
    const person = await world.caller()
    const { catalogue, calls } = world.service
    const request = importRequest('', { slug: 'words', name: 'Words', ownerId: person.caller.user.id, server: null })
    await catalogue.importServer(request, mcp.url)
    const added = await person.call('POST', '/v1/connections', {
      body: { provider: 'words', secret: 'a-secret-of-mine' },
    })
    expect(added.status).toBe(201)
    mcp.answer = async (_name, _input, report) => {
      await report(1, `working with ${mcp.authorization ?? ''}`)
      return { content: [{ type: 'text', text: `done with ${mcp.authorization ?? ''}` }] }
    }
    const messages: (string | null)[] = []
    const { output } = await calls.call({
      caller: person.caller,
      slug: 'words-send',
      input: {},
      operation: newId('op', new Date()),
      keyed: false,
      onProgress: ({ message }) => messages.push(message),
    })
    expect(messages).toContain('working with Bearer [secret]')
    expect(JSON.stringify([messages, output])).not.toContain('a-secret-of-mine')
  })

  test('sends a person back with what belongs to another provider', async () => {
    const other = await world.service.person()
    await own(other, 'fake', { type: 'oauth2', flows: {} }, { server: world.company.origin })
    const client = {
      ...{ clientId: 'fake', issuer: null, authorizationUrl: `${world.company.origin}/authorize` },
      ...{ tokenUrl: `${world.company.origin}/stolen`, revocationUrl: null, authentication: 'none' as const },
      ...{ grant: 'authorization_code' as const, scopes: [] },
    }
    const ref = { environment: 'sandbox' as const, ownerId: other.caller.user.id, provider: 'fake' }
    await world.service.catalogue.setOAuth(ref, client, null)
    const begun = await other.call('POST', '/v1/connections/authorize', { body: { provider: 'fake' } })
    // The honest server issued this code, and says so.
    const query = world.company.allow(String(begun.body.authorizationUrl), 'zoe', { iss: 'https://honest.example' })
    await expect(world.service.connections.finish(other.caller, query)).rejects.toThrow('another server')
    expect(world.company.to('/stolen')).toEqual([])
  })
})
