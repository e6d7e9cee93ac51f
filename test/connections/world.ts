import { until } from '../harness/until.ts'
import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Stranger, type ReceivedRequest } from '../harness/stranger.ts'
import type { Hooks, TestPerson } from '../harness/service.ts'
import { toolWorld, importRequest, type ToolWorld } from '../tools/calls/world.ts'
import { respond } from '../tools/calls/upstream.ts'

/** Another company: its authorization server and its API, on one origin. Accounts there are named by their person. */
export class Company extends Stranger {
  /** What each access token is for. */
  readonly access = new Map<string, string>()
  readonly revoked: string[] = []
  /** Answers these instead, once each. */
  readonly next: ((request: ReceivedRequest, response: ServerResponse) => void)[] = []
  /** Answers calls of the API with what they were sent, or as a test says. */
  onCall: ((request: ReceivedRequest, response: ServerResponse, who: string | null) => void) | null = null
  lifeSeconds: number | string = 3_600
  /** Its authorization server answers 503. */
  isDown = false
  /** What the person at the other device did. Null: nothing yet. */
  readonly devices = new Map<string, { who?: string; error?: string } | null>()
  /** In place of the fields of a code. */
  deviceAnswer: object = {}

  /** The person enters the newest code. */
  enter(decision: { who?: string; error?: string }): void {
    this.devices.set([...this.devices.keys()].at(-1)!, decision)
  }

  /** Instead of what is at these addresses. */
  readonly metadataAt = new Map<string, (response: ServerResponse) => void>()

  /** Secrets of registered clients, beside the one of this service. */
  readonly clients = new Map<string, string>()
  private readonly codes = new Map<string, { who: string; challenge: string; redirectUri: string }>()
  private readonly refreshes = new Map<string, string>()
  private readonly renewals: { who: string; done: () => void }[] = []
  lastRefresh = ''

  /** Resolves once this person's token was renewed. */
  async renewed(who: string): Promise<void> {
    await new Promise<void>((done) => this.renewals.push({ who, done }))
  }

  /** What a person's browser brings back after they have allowed the access. */
  allow(authorizationUrl: string, who: string, more: Record<string, string> = {}): string {
    const { searchParams } = new URL(authorizationUrl)
    const code = token('code')
    const [challenge, redirectUri] = [searchParams.get('code_challenge')!, searchParams.get('redirect_uri')!]
    this.codes.set(code, { who, challenge, redirectUri })
    const back = { code, state: searchParams.get('state')!, iss: this.origin, ...more }
    return new URLSearchParams(back).toString()
  }

  /** All grants end, as when a person removes the application there. */
  revokeAll(): void {
    this.access.clear()
    this.refreshes.clear()
  }

  protected answer(request: ReceivedRequest, response: ServerResponse): void {
    const isMetadata = request.path === '/.well-known/oauth-authorization-server'
    if (isMetadata && !this.metadataAt.has(request.path)) return json(response, this.metadata())
    const metadata = this.metadataAt.get(request.path)
    if (metadata !== undefined) return metadata(response)
    if (request.path === '/token') {
      if (this.isDown) return json(response, { error: 'temporarily_unavailable' }, 503)
      const instead = this.next.shift()
      return instead === undefined ? this.issue(request, response) : instead(request, response)
    }
    if (request.path === '/device') return this.giveCode(response)
    if (request.path === '/revoke') {
      this.revoked.push(new URLSearchParams(request.body).get('token')!)
      response.writeHead(200).end()
      return
    }
    const who = this.access.get((request.headers.authorization ?? '').replace(/^Bearer /, '')) ?? null
    if (this.onCall !== null) return this.onCall(request, response, who)
    if (who === null && request.headers['x-key'] === undefined) return json(response, { error: 'unauthorized' }, 401)
    json(response, { who })
  }

  private metadata() {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      revocation_endpoint: `${this.origin}/revoke`,
      device_authorization_endpoint: `${this.origin}/device`,
      authorization_response_iss_parameter_supported: true,
    }
  }

  /** Who renews with this request. */
  userOf(request: ReceivedRequest): string {
    return this.refreshes.get(new URLSearchParams(request.body).get('refresh_token') ?? '') ?? ''
  }

  issue(request: ReceivedRequest, response: ServerResponse): void {
    const sent = new URLSearchParams(request.body)
    const secret = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
    if (sent.get('grant_type') === 'client_credentials') return this.issueToClient(request, response)
    if (decodeURIComponent(secret) !== 'coinslot:client-secret') return json(response, { error: 'invalid_client' }, 400)
    if (sent.get('grant_type') === 'refresh_token') {
      const who = this.refreshes.get(sent.get('refresh_token')!)
      if (who === undefined) return json(response, { error: 'invalid_grant' }, 400)
      // Each refresh token is good once.
      this.refreshes.delete(sent.get('refresh_token')!)
      this.tokens(response, who)
      for (const renewal of this.renewals) if (renewal.who === who) renewal.done()
      return
    }
    if (sent.has('device_code')) return this.issueToDevice(sent.get('device_code')!, response)
    const known = this.codes.get(sent.get('code') ?? '')
    this.codes.delete(sent.get('code') ?? '')
    const proof = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url')
    if (known?.challenge !== proof || known.redirectUri !== sent.get('redirect_uri')) {
      return json(response, { error: 'invalid_grant' }, 400)
    }
    this.tokens(response, known.who)
  }

  /** A client of another company's own: by the header, or in the body. */
  private issueToClient(request: ReceivedRequest, response: ServerResponse): void {
    const sent = new URLSearchParams(request.body)
    const [id, secret] = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent)
    const clientId = sent.get('client_id') ?? id ?? ''
    if (this.clients.get(clientId) !== (sent.get('client_secret') ?? secret)) {
      return json(response, { error: 'invalid_client' }, 401)
    }
    const access = token('access')
    this.access.set(access, clientId)
    const scope = sent.get('scope')
    const answer = { access_token: access, token_type: 'Bearer', expires_in: this.lifeSeconds }
    json(response, scope === null ? answer : { ...answer, scope })
  }

  private giveCode(response: ServerResponse): void {
    const code = token('device')
    this.devices.set(code, null)
    json(response, {
      device_code: code,
      user_code: 'WDJB-MJHT',
      verification_uri: `${this.origin}/enter`,
      verification_uri_complete: `${this.origin}/enter?code=WDJB-MJHT`,
      expires_in: 600,
      interval: 7,
      ...this.deviceAnswer,
    })
  }

  private issueToDevice(code: string, response: ServerResponse): void {
    const decision = this.devices.get(code)
    if (decision === undefined) return json(response, { error: 'invalid_grant' }, 400)
    if (decision === null) return json(response, { error: 'authorization_pending' }, 400)
    this.devices.delete(code)
    if (decision.error !== undefined) return json(response, { error: decision.error }, 400)
    this.tokens(response, decision.who ?? '')
  }

  private tokens(response: ServerResponse, who: string): void {
    const [access, refresh] = [token('access'), token('refresh')]
    this.access.set(access, who)
    this.refreshes.set(refresh, who)
    this.lastRefresh = refresh
    json(response, {
      access_token: access,
      token_type: 'Bearer',
      refresh_token: refresh,
      expires_in: this.lifeSeconds,
      scope: 'notes',
    })
  }
}

const token = (kind: string): string => `${kind}-${randomBytes(18).toString('base64url')}`

export function json(response: ServerResponse, body: unknown, status = 200): void {
  respond(response, JSON.stringify(body), 'application/json', status)
}

export interface ConnectionWorld extends ToolWorld {
  company: Company
  /** A person whose account is connected, under this name there. */
  connected(who: string): Promise<TestPerson & { connectionId: string }>
  connections(person: TestPerson): Promise<Record<string, unknown>[]>
  /** Waits until it is noted that a call with the one connection was refused, or was not: its answer does not wait for that. */
  noted(person: TestPerson, isRefused: boolean): Promise<unknown>
}

/** The service with the tools of a company that accounts connect to. Its key is in the vault too. */
export async function connectionWorld(
  environment: Record<string, string> = {},
  hooks: Hooks = {},
): Promise<ConnectionWorld> {
  const world = await toolWorld(environment, hooks)
  const company = await new Company().listen()
  const { catalogue } = world.service
  await catalogue.importDocument(
    importRequest(company.origin, { slug: 'notes', name: 'Notes' }),
    JSON.stringify(DOCUMENT),
  )
  const providerRef = { environment: 'sandbox', ownerId: null, provider: 'notes' } as const
  await catalogue.setCredentials(providerRef, 'the-operators-own-key')
  const client = {
    ...{ clientId: 'coinslot', issuer: company.origin, authorizationUrl: null, tokenUrl: null, revocationUrl: null },
    ...{ authentication: 'basic' as const, grant: 'authorization_code' as const, scopes: ['notes'] },
  }
  await catalogue.setOAuth(providerRef, client, 'client-secret')

  return {
    ...world,
    company,
    async connected(who) {
      const person = await world.caller()
      const { body } = await person.call('POST', '/v1/connections/authorize', { body: { provider: 'notes' } })
      if (body.authorizationUrl === undefined) throw new Error(JSON.stringify(body))
      const query = company.allow(String(body.authorizationUrl), who)
      const { id } = await world.service.connections.finish(person.caller, query)
      return { ...person, connectionId: id }
    },
    connections: async (person) =>
      (await person.call('GET', '/v1/connections')).body.connections as Record<string, unknown>[],
    noted: (person, isRefused) =>
      until(async () => {
        const { body } = await person.call('GET', '/v1/connections')
        const [connection] = body.connections as { failure: string | null }[]
        return (connection?.failure != null) === isRefused
      }),
    async close() {
      await world.close()
      await company.close()
    },
  }
}

const ok = { 200: { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } } }
const operation = (operationId: string, security: unknown) => ({
  operationId,
  summary: operationId,
  security,
  responses: ok,
})

/** One operation for each thing that a document says about authentication. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  components: {
    securitySchemes: {
      account: {
        type: 'oauth2',
        flows: {
          authorizationCode: { authorizationUrl: 'https://a.example', tokenUrl: 'https://a.example', scopes: {} },
        },
      },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      app: { type: 'apiKey', in: 'query', name: 'app' },
    },
  },
  paths: {
    '/me': { get: operation('getMe', [{ account: ['notes'] }]), post: operation('write', [{ account: ['notes'] }]) },
    '/news': { get: operation('getNews', [{ key: [] }]) },
    '/both': { post: operation('both', [{ key: [], app: [] }]) },
    '/open': { get: operation('getOpen', []), post: operation('maybe', [{}, { key: [] }]) },
  },
}
