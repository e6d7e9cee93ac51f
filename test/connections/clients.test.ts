import { startReplica, type Replica } from '../tools/calls/replica.ts'
import { importRequest } from '../tools/calls/world.ts'
import { connectionWorld, json, type ConnectionWorld } from './world.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

/** An account connects with an OAuth client of its own at the provider. */
describe('connections by client credentials', () => {
  let world: ConnectionWorld
  let other: Replica
  beforeAll(async () => {
    world = await connectionWorld({ VAULT_KEY })
    other = await startReplica(world.service, { VAULT_KEY })
    world.company.clients.set('acme-bot', 'acme-client-secret')
    world.company.clients.set('ben-bot', 'ben-client-secret')
  })
  beforeEach(() => {
    world.company.onCall = null
    world.company.next.length = 0
    world.company.isDown = false
  })
  afterAll(async () => {
    await other.abandon()
    await world.close()
  })

  const sweep = () => world.service.connections.sweep(world.service.clock.now(), new AbortController().signal)
  const tokenCalls = () => world.company.to('/token').length
  const create = (person: { call: ConnectionWorld['service']['call'] }, client: object, more: object = {}) =>
    person.call('POST', '/v1/connections', { body: { provider: 'notes', client, ...more } })

  test.each(['basic', 'post'] as const)(
    'two accounts act as their own clients, which prove themselves by %s',
    async (authentication) => {
      const [ada, ben] = [await world.caller(), await world.caller()]
      const created = await create(ada, {
        id: 'acme-bot',
        secret: 'acme-client-secret',
        authentication,
        scopes: ['notes'],
      })
      expect(created.status).toBe(201)
      expect(created.body.connection).toMatchObject({ kind: 'client', state: 'active', scopes: ['notes'] })
      expect((await create(ben, { id: 'ben-bot', secret: 'ben-client-secret', authentication })).status).toBe(201)
      const answers = await Promise.all([ada, ben, ada].map((person) => world.call(person, 'notes-write')))
      expect(answers.map(({ body }): unknown => body.output.who)).toEqual(['acme-bot', 'ben-bot', 'acme-bot'])
      for (const text of [created.text, JSON.stringify(await world.connections(ada))]) {
        expect(text).not.toMatch(/client-secret|access-/)
      }
      const rows = await world.service.database.statements.run<{ all: string }>(
        'SELECT row_to_json(connection)::text AS all FROM connection',
        [],
      )
      expect(rows.map((row) => row.all).join()).not.toMatch(/client-secret|access-|acme-bot/)
    },
  )

  test('reuse a token until shortly before its end, and renew it once across all processes', async () => {
    const person = await world.caller()
    await create(person, { id: 'acme-bot', secret: 'acme-client-secret' })
    const before = tokenCalls()
    await world.call(person, 'notes-write')
    world.service.clock.forward(3_000_000)
    await world.call(person, 'notes-write')
    expect(tokenCalls()).toBe(before)
    world.service.clock.forward(700_000)
    const headers = { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' }
    const requests = Array.from({ length: 24 }, async (_, index) => {
      if (index % 2 === 0) return (await world.call(person, 'notes-write')).body as { output: unknown }
      const answer = await fetch(`${other.origin}/tools/notes-write`, { method: 'POST', headers, body: '{}' })
      return (await answer.json()) as { output: unknown }
    })
    expect((await Promise.all(requests)).map(({ output }) => output)).toEqual(Array(24).fill({ who: 'acme-bot' }))
    expect(tokenCalls()).toBe(before + 1)
    // A token that the provider takes back is replaced, without anybody's help.
    world.company.revokeAll()
    expect((await world.call(person, 'notes-write')).body.code).toBe('upstream_error')
    await world.noted(person, true)
    await sweep()
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'acme-bot' })
  })

  test('store nothing that the server refuses, end with their client, and revoke the token when removed', async () => {
    const person = await world.caller()
    const wrong = await create(person, { id: 'acme-bot', secret: 'guessed-wrongly' })
    expect([wrong.status, wrong.body.code]).toEqual([502, 'authorization_refused'])
    expect(wrong.body.error).toContain('its server refused the client')
    expect(wrong.text).not.toContain('guessed-wrongly')
    // A server that repeats the secret in its error.
    world.company.next.push((request, response) =>
      json(response, { error: request.headers.authorization!, error_description: request.body }, 400),
    )
    const echoed = await create(person, { id: 'acme-bot', secret: 'acme-client-secret' })
    expect(echoed.text).not.toContain(Buffer.from('acme-bot:acme-client-secret').toString('base64'))
    expect((await create(person, { id: 'a', secret: 'b' }, { secret: 'a-key-too' })).body.error).toContain(
      'leave out one',
    )
    expect(await world.connections(person)).toEqual([])

    // Issued, but its name is taken: nothing is left there.
    const created = await create(person, { id: 'acme-bot', secret: 'acme-client-secret' }, { name: 'Bot' })
    const revoked = world.company.revoked.length
    expect((await create(person, { id: 'acme-bot', secret: 'acme-client-secret' }, { name: 'Bot' })).status).toBe(409)
    expect(world.company.revoked.length).toBe(revoked + 1)
    await person.call('DELETE', `/v1/connections/${String(created.body.connection.id)}`)
    await sweep()
    expect(world.company.revoked.length).toBe(revoked + 2)

    await create(person, { id: 'ben-bot', secret: 'ben-client-secret' })
    world.company.clients.delete('ben-bot')
    world.service.clock.forward(3_700_000)
    expect((await world.call(person, 'notes-write')).body.code).toBe('connection_required')
    expect(await world.connections(person)).toMatchObject([{ state: 'expired' }])
  })

  test('connect again with their name and place, so that the next call uses them, and in any other way', async () => {
    const person = await world.caller()
    world.company.clients.set('dee-bot', 'dee-client-secret')
    const client = { id: 'dee-bot', secret: 'dee-client-secret' }
    const { id } = (await create(person, client, { name: 'Bot' })).body.connection as { id: string }
    const again = { connectionId: id, name: 'Another name' }
    world.company.clients.delete('dee-bot')
    world.service.clock.forward(3_700_000)
    const { body: refused } = await world.call(person, 'notes-write')
    expect(new URL(String(refused.connectUrl)).searchParams.get('again')).toBe(id)
    world.company.clients.set('dee-bot', 'dee-new-secret')
    const wrong = await create(person, client, again)
    expect([wrong.status, wrong.body.code]).toEqual([502, 'authorization_refused'])
    const mended = await create(person, { ...client, secret: 'dee-new-secret' }, again)
    expect([mended.status, mended.body.connection.id]).toEqual([201, id])
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'dee-bot' })

    // The token of before is revoked, and a person's sign-in takes the client's place; a key takes the person's.
    const revoked = world.company.revoked.length
    const begun = await person.call('POST', '/v1/connections/authorize', { body: { provider: 'notes', ...again } })
    await world.service.connections.finish(
      person.caller,
      world.company.allow(String(begun.body.authorizationUrl), 'dee'),
    )
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'dee' })
    await sweep()
    expect(world.company.revoked.length).toBe(revoked + 1)
    const key = (secret: string) => ({ provider: 'notes', secrets: { account: secret }, ...again })
    expect((await person.call('POST', '/v1/connections', { body: key('first-key') })).status).toBe(201)
    await sweep()
    expect(world.company.revoked.length).toBe(revoked + 2)
    expect((await person.call('POST', '/v1/connections', { body: key('second-key') })).status).toBe(201)
    await sweep()
    // Nothing was issued for a key.
    expect(world.company.revoked.length).toBe(revoked + 2)
    world.company.onCall = ({ headers }, response) =>
      json(response, { isNew: headers.authorization === 'Bearer second-key' })
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ isNew: true })
    const kept = { id, name: 'Bot', default: true, kind: 'key', state: 'active', failure: null }
    expect(await world.connections(person)).toMatchObject([kept])
  })

  test('connect again only what is their account’s, and at the same provider', async () => {
    const [person, other] = [await world.caller(), await world.caller()]
    const body = { provider: 'notes', secrets: { key: 'a-key-of-mine' } }
    const { id } = (await person.call('POST', '/v1/connections', { body })).body.connection as { id: string }
    const again = { ...body, connectionId: id }
    expect((await other.call('POST', '/v1/connections', { body: again })).status).toBe(404)
    for (const ownerId of [null, person.caller.user.id]) {
      // The account's own one has the same name as the platform's, and is preferred.
      const slug = ownerId === null ? 'papers' : 'notes'
      const security = { components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } } }
      const get = {
        operationId: 'getIt',
        summary: 'Get it',
        security: [{ key: [] }],
        responses: { 200: { description: 'Done' } },
      }
      const document = { openapi: '3.1.0', info: { title: 'It', version: '1' }, ...security, paths: { '/it': { get } } }
      const request = importRequest(world.company.origin, { slug, name: 'It', ownerId })
      await world.service.catalogue.importDocument(request, JSON.stringify(document))
      expect((await person.call('POST', '/v1/connections', { body: { ...again, provider: slug } })).status).toBe(404)
    }
    await person.call('DELETE', `/v1/connections/${id}`)
    expect((await person.call('POST', '/v1/connections', { body: again })).status).toBe(404)
    expect(await world.connections(person)).toEqual([])
  })

  test('a later document cannot have the client’s secret sent elsewhere', async () => {
    const person = await world.caller()
    world.company.clients.set('acme-bot', 'acme-client-secret')
    await create(person, { id: 'acme-bot', secret: 'acme-client-secret' })
    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'notes' } as const
    const { client } = (await world.service.catalogue.connectable('sandbox', null, 'notes'))!
    await world.service.catalogue.setOAuth(
      providerRef,
      { ...client!, issuer: null, tokenUrl: 'https://evil.example/token' },
      null,
    )
    world.service.clock.forward(3_700_000)
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'acme-bot' })
  })
})
