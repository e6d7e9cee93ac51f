import { UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { oauthWorld, REDIRECT, type OAuthWorld } from './world.ts'

/** A program with the official client, which stores what it is given. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata: OAuthClientMetadata = { client_name: 'Claude', redirect_uris: [REDIRECT] }
  authorizationUrl: URL | null = null
  private information: OAuthClientInformationMixed | undefined
  private saved: OAuthTokens | undefined
  private verifier = ''

  state = () => 'its own state'
  clientInformation = () => this.information
  saveClientInformation(information: OAuthClientInformationMixed): void {
    this.information = information
  }
  tokens = () => this.saved
  saveTokens(tokens: OAuthTokens): void {
    this.saved = tokens
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url
  }
  codeVerifier = () => this.verifier
  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier
  }
}

describe('the official client without a key', () => {
  let world: OAuthWorld

  beforeAll(async () => {
    world = await oauthWorld()
    world.upstream.respondWith('/notes', { id: 7 }, 201)
  })
  afterAll(() => world.close())

  const address = () => new URL(`${world.resource}?auth=oauth`)
  const call = async (client: Client, name: string, input: Record<string, unknown> = {}) =>
    await client.callTool({ name, arguments: input })

  /** Answers the exchanges of tokens once so many have been sent. */
  function together(count: number): typeof fetch {
    let sent = 0
    let release: () => void = () => undefined
    const isComplete = new Promise<void>((resolve) => {
      release = resolve
    })
    return async (input, init) => {
      const request = new Request(input, init)
      if (new URL(request.url).pathname === '/oauth/token') {
        if (++sent >= count) release()
        await isComplete
      }
      return await fetch(request)
    }
  }

  async function connected(program: Program, cookie: string, form: Record<string, string> = {}): Promise<Client> {
    const first = new StreamableHTTPClientTransport(address(), { authProvider: program })
    await expect(new Client({ name: 'test', version: '1' }).connect(first as Transport)).rejects.toThrow(
      UnauthorizedError,
    )
    const back = new URL(
      String((await world.decide(program.authorizationUrl!.href, cookie, form)).headers.get('location')),
    )
    expect(back.origin + back.pathname).toBe(REDIRECT)
    expect(back.searchParams.get('state')).toBe('its own state')
    expect(back.searchParams.get('iss')).toBe(world.address)
    await first.finishAuth(back.searchParams.get('code')!)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(address(), { authProvider: program }))
    return client
  }

  test('connects through the consent page, calls tools within its limit, refreshes, and ends with its key', async () => {
    const cookie = await world.signUp()
    const program = new Program()
    const client = await connected(program, cookie, { perDay: '0.015' })
    expect((await call(client, 'get_balance')).structuredContent).toMatchObject({ available: 5 })

    const note = { slug: 'acme-create-note', input: { title: 'By OAuth' } }
    expect((await call(client, 'call_tool', note)).structuredContent).toEqual({ id: 7 })
    const over = await call(client, 'call_tool', note)
    expect([over.isError, JSON.stringify(over.content)]).toEqual([true, expect.stringContaining('limit for this day')])
    expect((await call(client, 'get_balance')).structuredContent).toMatchObject({ available: 4.99 })

    const before = program.tokens()!
    world.service.clock.forward(3_601_000)
    expect((await call(client, 'get_balance')).structuredContent).toMatchObject({ available: 4.99 })
    expect(program.tokens()!.access_token).not.toBe(before.access_token)
    expect((await world.balance(before.access_token)).status).toBe(401)

    const own = { headers: { cookie, origin: world.address } }
    const { keys } = (await world.service.call('GET', '/v1/keys', own)).body
    expect(keys).toEqual([expect.objectContaining({ name: 'Claude', agentId: expect.stringMatching(/^agt_/) })])
    expect((await world.service.call('DELETE', `/v1/keys/${String(keys[0].id)}`, own)).status).toBe(204)
    expect((await world.balance(program.tokens()!.access_token)).status).toBe(401)
    await client.close()
  })

  test('stays connected when two calls at once find that the access token has ended', async () => {
    const program = new Program()
    await (await connected(program, await world.signUp())).close()
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(address(), { authProvider: program, fetch: together(2) })
    await client.connect(transport)
    const before = program.tokens()!
    world.service.clock.forward(3_601_000)
    const answers = await Promise.all([call(client, 'get_balance'), call(client, 'get_balance')])
    for (const { structuredContent } of answers) expect(structuredContent).toMatchObject({ available: 5 })
    expect(program.tokens()!.access_token).not.toBe(before.access_token)
    expect((await call(client, 'get_balance')).structuredContent).toMatchObject({ available: 5 })
    await client.close()
  })

  test('a guest still needs no token, and finds the metadata', async () => {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(world.resource)))
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
    await client.close()
    for (const path of ['', '/tools/mcp']) {
      const { body } = await world.service.call('GET', `/.well-known/oauth-protected-resource${path}`)
      expect(body).toMatchObject({ resource: world.resource, authorization_servers: [world.address] })
    }
    const refused = await world.balance('cat_wrong')
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${world.address}/.well-known/oauth-protected-resource/tools/mcp", error="invalid_token"`,
    )
  })

  test('the metadata of the authorization server', async () => {
    const { body } = await world.service.call('GET', '/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      issuer: world.address,
      authorization_endpoint: `${world.address}/oauth/authorize`,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    })
  })
})
