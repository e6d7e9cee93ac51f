import { importRequest } from '../tools/calls/world.ts'
import { Company, connectionWorld, json, type ConnectionWorld } from './world.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`
const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'

/** A document that says only that it takes a token: the provider's own servers say where tokens are issued. */
describe('the authorization server of a provider whose document names none', () => {
  let world: ConnectionWorld
  /** The authorization server, on another host than the API. */
  let elsewhere: Company
  const text = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Bare', version: '1' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/me': {
        post: {
          operationId: 'write',
          summary: 'Write a note',
          security: [{ token: [] }],
          responses: { 200: { description: 'Done' } },
        },
      },
    },
  })
  beforeAll(async () => {
    world = await connectionWorld({ VAULT_KEY })
    elsewhere = await new Company().listen()
    await world.service.catalogue.importDocument(
      importRequest(world.company.origin, { slug: 'bare', name: 'Bare' }),
      text,
    )
    await world.service.catalogue.setOAuth(
      { environment: 'sandbox', ownerId: null, provider: 'bare' },
      CLIENT,
      'client-secret',
    )
  })
  beforeEach(() => {
    world.company.metadataAt.clear()
    elsewhere.metadataAt.clear()
    world.company.onCall = null
  })
  afterAll(async () => {
    await world.close()
    await elsewhere.close()
  })

  const names = (fields: object) =>
    world.company.metadataAt.set(RESOURCE, (response) => json(response, { resource: world.company.origin, ...fields }))
  const start = async (person: { call: ConnectionWorld['service']['call'] }) =>
    await person.call('POST', '/v1/connections/authorize', { body: { provider: 'bare' } })

  test('is the one in its metadata, and stays the same for this connection', async () => {
    names({ authorization_servers: [elsewhere.origin] })
    const person = await world.caller()
    const { body } = await start(person)
    expect(new URL(String(body.authorizationUrl)).origin).toBe(elsewhere.origin)
    await world.service.connections.finish(person.caller, elsewhere.allow(String(body.authorizationUrl), 'ada'))
    world.company.onCall = (request, response) =>
      json(response, { who: elsewhere.access.get(request.headers.authorization!.slice(7)) ?? null })
    expect((await world.call(person, 'bare-write')).body.output).toEqual({ who: 'ada' })
    // Later the metadata names a thief's server, which would get the refresh token and the client's secret.
    const thief = await new Company().listen()
    names({ authorization_servers: [thief.origin] })
    world.service.clock.forward(3_700_000)
    expect((await world.call(person, 'bare-write')).body.output).toEqual({ who: 'ada' })
    expect(thief.requests).toEqual([])
    await person.call('DELETE', `/v1/connections/${String(body.connection.id)}`)
    await world.service.connections.sweep(world.service.clock.now(), new AbortController().signal)
    expect(elsewhere.revoked).toHaveLength(1)
    expect(thief.requests).toEqual([])
    await thief.close()
  })

  test('stays the same for a connection by the client that its owner set', async () => {
    const person = await world.caller()
    const ownerId = person.caller.user.id
    const request = importRequest(world.company.origin, { slug: 'bare-own', name: 'Bare', ownerId })
    await world.service.catalogue.importDocument(request, text)
    await world.service.catalogue.setOAuth(
      { environment: 'sandbox', ownerId, provider: 'bare-own' },
      { ...CLIENT, clientId: 'own-bot', grant: 'client_credentials' },
      'own-bot-secret',
    )
    elsewhere.clients.set('own-bot', 'own-bot-secret')
    names({ authorization_servers: [elsewhere.origin] })
    const created = await person.call('POST', '/v1/connections', { body: { provider: 'bare-own' } })
    expect(created.body.connection).toMatchObject({ kind: 'client', state: 'active' })
    world.company.onCall = (sent, response) =>
      json(response, { who: elsewhere.access.get(sent.headers.authorization!.slice(7)) ?? null })
    const thief = await new Company().listen()
    names({ authorization_servers: [thief.origin] })
    world.service.clock.forward(3_700_000)
    expect((await world.call(person, 'bare-own-write')).body.output).toEqual({ who: 'own-bot' })
    expect(thief.requests).toEqual([])
    await thief.close()
  })

  test('is the API’s own where that has metadata and names no other', async () => {
    const person = await world.caller()
    const { body } = await start(person)
    expect(new URL(String(body.authorizationUrl)).origin).toBe(world.company.origin)
    const { state } = await world.service.connections.finish(
      person.caller,
      world.company.allow(String(body.authorizationUrl), 'ben'),
    )
    expect(state).toBe('active')
    // With an own client too.
    world.company.clients.set('bot', 'bot-secret')
    const created = await person.call('POST', '/v1/connections', {
      body: { provider: 'bare', client: { id: 'bot', secret: 'bot-secret' } },
    })
    expect(created.body.connection).toMatchObject({ kind: 'client', state: 'active' })
  })

  test.each([
    ['another resource', (own: string) => ({ resource: `${own}/other`, authorization_servers: [own] })],
    ['no servers', () => ({})],
    ['servers that are no list', () => ({ authorization_servers: 'x' })],
    ['a private address', () => ({ authorization_servers: ['https://10.0.0.1', 'https://169.254.169.254'] })],
    ['plain http', () => ({ authorization_servers: ['http://auth.example'] })],
    ['an endless list', () => ({ authorization_servers: Array(5_000).fill('https://auth.invalid/') })],
  ])('is not accepted from metadata with %s: nothing is stored, and the error says why', async (_what, fields) => {
    names(fields(world.company.origin))
    world.company.metadataAt.set(SERVER, (response) => json(response, { error: 'none' }, 404))
    const person = await world.caller()
    const before = elsewhere.requests.length
    const refused = await start(person)
    expect([refused.status, refused.body.code]).toEqual([502, 'authorization_refused'])
    expect(refused.body.error).toContain('name where it issues tokens')
    expect(await world.connections(person)).toEqual([])
    expect(elsewhere.requests.length).toBe(before)
  })

  const METADATA = '/here/metadata'
  /** The API answers 401 and says where its metadata is. */
  const challenges = (address: string, fields: object) => {
    world.company.metadataAt.set(SERVER, (response) => json(response, { error: 'none' }, 404))
    elsewhere.metadataAt.set(METADATA, (response) => json(response, fields))
    world.company.onCall = (_, response) => {
      response.setHeader(
        'www-authenticate',
        `Basic realm="notes, here", Bearer error="x", resource_metadata="${address}"`,
      )
      json(response, { error: 'unauthorized' }, 401)
    }
  }

  test('is the one in the metadata that the API’s 401 names, on any host', async () => {
    const [own, issuer] = [world.company.origin, elsewhere.origin]
    challenges(`${issuer}${METADATA}`, { resource: own, authorization_servers: [issuer] })
    const { body } = await start(await world.caller())
    expect(new URL(String(body.authorizationUrl)).origin).toBe(issuer)
    // Nothing that could be of worth was sent to the address.
    const [request] = elsewhere.to(METADATA)
    expect([request?.method, request?.body, request?.headers.authorization]).toEqual(['GET', '', undefined])
  })

  test.each([
    ['metadata of another resource', (own: string) => [own, { resource: 'https://other.example' }]],
    ['metadata without a resource', (own: string) => [own, {}]],
    ['an address in a private network', () => ['https://10.0.0.1', {}]],
    ['an address by plain http', () => ['http://metadata.example', {}]],
    ['an endless address', (own: string) => [`${own}/${'a'.repeat(3_000)}`, {}]],
  ] as [string, (own: string) => [string, object]][])(
    'is not accepted from a 401 that names %s',
    async (_what, metadataOf) => {
      const [host, fields] = metadataOf(elsewhere.origin)
      challenges(`${host}${METADATA}`, { authorization_servers: [elsewhere.origin], ...fields })
      const person = await world.caller()
      const before = elsewhere.to(SERVER).length
      expect((await start(person)).body.code).toBe('authorization_refused')
      expect([await world.connections(person), elsewhere.to(SERVER).length]).toEqual([[], before])
    },
  )

  test('is not accepted from a 200, nor through a redirect to the metadata', async () => {
    const person = await world.caller()
    challenges(`${elsewhere.origin}${METADATA}`, {
      resource: world.company.origin,
      authorization_servers: [elsewhere.origin],
    })
    const onCall = world.company.onCall!
    world.company.onCall = (request, response, who) => {
      response.writeHead = (
        (write) => (_status: number, headers?: object) =>
          write(200, headers as never)
      )(response.writeHead.bind(response)) as typeof response.writeHead
      onCall(request, response, who)
    }
    expect((await start(person)).body.code).toBe('authorization_refused')
    world.company.onCall = onCall
    elsewhere.metadataAt.set(METADATA, (response) =>
      response.writeHead(302, { location: `${elsewhere.origin}/m` }).end(),
    )
    expect((await start(person)).body.code).toBe('authorization_refused')
  })

  test('is not accepted through a redirect, nor from metadata that is too long', async () => {
    world.company.metadataAt.set(SERVER, (response) => json(response, { error: 'none' }, 404))
    const person = await world.caller()
    const before = elsewhere.requests.length
    world.company.metadataAt.set(RESOURCE, (response) =>
      response.writeHead(302, { location: `${elsewhere.origin}${RESOURCE}` }).end(),
    )
    expect((await start(person)).body.code).toBe('authorization_refused')
    names({ authorization_servers: [elsewhere.origin], padding: 'x'.repeat(200_000) })
    expect((await start(person)).body.code).toBe('authorization_refused')
    expect(elsewhere.requests.length).toBe(before)
  })
})

const CLIENT = {
  clientId: 'coinslot',
  issuer: null,
  authorizationUrl: null,
  tokenUrl: null,
  revocationUrl: null,
  authentication: 'basic',
  grant: 'authorization_code',
  scopes: ['notes'],
} as const
