import { dyingAt, startReplica } from '../tools/calls/replica.ts'
import { connectionWorld, json, type ConnectionWorld } from './world.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`
const SECOND = 1_000

/** A person connects by entering a code at the provider. */
describe('connections by code', () => {
  let world: ConnectionWorld
  beforeAll(async () => {
    world = await connectionWorld({ VAULT_KEY })
  })
  beforeEach(() => {
    world.company.onCall = null
    world.company.next.length = 0
    world.company.deviceAnswer = {}
    world.company.isDown = false
  })
  afterAll(() => world.close())

  const sweep = (service: Pick<ConnectionWorld['service'], 'connections'> = world.service) =>
    service.connections.sweepCodes(world.service.clock.now(), new AbortController().signal)
  const after = async (seconds: number) => {
    world.service.clock.forward(seconds * SECOND)
    await sweep()
  }
  const polls = () => world.company.to('/token').filter(({ body }) => body.includes('device_code')).length
  const start = async (person: { call: ConnectionWorld['service']['call'] }, body: object = {}) =>
    await person.call('POST', '/v1/connections/authorize', { body: { provider: 'notes', byCode: true, ...body } })

  test('show a code and an address, become active by themselves, and release a waiting call', async () => {
    const person = await world.caller()
    const begun = await start(person)
    expect(begun.status).toBe(201)
    const form = new URLSearchParams(world.company.to('/device').at(-1)!.body)
    expect(form.get('scope')).toBe('notes')
    expect(begun.body).toMatchObject({
      userCode: 'WDJB-MJHT',
      authorizationUrl: `${world.company.origin}/enter?code=WDJB-MJHT`,
      connection: { state: 'pending', kind: 'oauth' },
    })
    // What only the service may know is in no answer, and in no row as it is.
    const [device] = [...world.company.devices.keys()]
    const rows = await world.service.database.statements.run<{ all: string }>(
      'SELECT row_to_json(connection)::text AS all FROM connection',
      [],
    )
    for (const text of [begun.text, JSON.stringify(rows)]) expect(text).not.toContain(device)
    const waiting = world.call(person, 'notes-write', {}, { prefer: 'wait=60' })
    // At the provider's interval, and not before.
    const before = polls()
    await after(5)
    expect(polls()).toBe(before)
    await after(3)
    expect(polls()).toBe(before + 1)
    await after(3)
    expect(polls()).toBe(before + 1)
    world.company.enter({ who: 'ada' })
    await after(5)
    expect(await world.connections(person)).toMatchObject([{ state: 'active', scopes: ['notes'], failure: null }])
    expect((await waiting).body.output).toEqual({ who: 'ada' })
    await after(60)
    expect(polls()).toBe(before + 2)
  })

  test('poll a server less often on slow_down, and go on polling after an outage', async () => {
    const person = await world.caller()
    await start(person)
    world.company.next.push((_request, response) => json(response, { error: 'slow_down' }, 400))
    const before = polls()
    await after(8)
    await after(8)
    expect(polls()).toBe(before + 1)
    // Seven seconds, and five more.
    await after(5)
    expect(polls()).toBe(before + 2)
    world.company.isDown = true
    await after(13)
    world.company.isDown = false
    expect(polls()).toBe(before + 3)
    await after(13)
    expect(polls()).toBe(before + 3)
    world.company.enter({ who: 'ben' })
    await after(13)
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'ben' })
  })

  test.each([
    ['a refusal', 'access_denied', 'not allowed there'],
    ['a code that is over', 'expired_token', 'not entered in time'],
    ['another fault', 'invalid_client', 'refused the code'],
  ])('end with a reason on %s, store nothing, and stop polling', async (_what, error, sentence) => {
    const person = await world.caller()
    await start(person)
    world.company.enter({ error })
    await after(8)
    const before = polls()
    const [shown] = await world.connections(person)
    expect(shown).toMatchObject({ state: 'pending', failure: expect.stringContaining(sentence) })
    await after(60)
    expect(polls()).toBe(before)
    // The same row begins again.
    await start(person, { connectionId: shown!['id'] })
    expect(await world.connections(person)).toMatchObject([{ state: 'pending', failure: null }])
    world.company.enter({ who: 'cem' })
    await after(8)
    expect((await world.call(person, 'notes-write')).body.output).toEqual({ who: 'cem' })
  })

  test('cap a code at fifteen minutes and its poll interval at one minute', async () => {
    const person = await world.caller()
    world.company.deviceAnswer = { expires_in: 1e9, interval: 1e9 }
    const { body } = await start(person)
    expect(new Date(String(body.expiresAt)).getTime() - world.service.clock.now().getTime()).toBeLessThanOrEqual(
      900 * SECOND,
    )
    const before = polls()
    await after(61)
    expect(polls()).toBe(before + 1)
    await after(840)
    await world.service.connections.sweep(world.service.clock.now(), new AbortController().signal)
    expect(await world.connections(person)).toEqual([])
    await after(120)
    expect(polls()).toBe(before + 1)
  })

  test.each([
    ['a code that cannot be shown', { user_code: 'a\u202eb' }, 'cannot be shown'],
    ['an endless code', { user_code: 'A'.repeat(65) }, 'cannot be shown'],
    ['an address that is a script', { verification_uri_complete: 'javascript:alert(1)' }, 'must begin with https'],
    ['no address', { verification_uri: 'x', verification_uri_complete: 'y' }, 'no address where the code is entered'],
    ['no code', { device_code: 7 }, 'not OAuth 2'],
  ])('%s is refused with a sentence, and nothing is stored', async (_what, answer, sentence) => {
    const person = await world.caller()
    world.company.deviceAnswer = answer
    const refused = await start(person)
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.body.error).toContain(sentence)
    expect(await world.connections(person)).toEqual([])
  })

  test('are polled by one of two processes; if it dies with the tokens, the next reports the end', async () => {
    const person = await world.caller()
    const { failpoints, reached } = dyingAt('connection polled')
    const dying = await startReplica(world.service, { VAULT_KEY }, failpoints)
    await start(person)
    const before = polls()
    world.service.clock.forward(8 * SECOND)
    await Promise.all([sweep(dying.service), sweep(), sweep()])
    expect(polls()).toBe(before + 1)
    world.company.enter({ who: 'dora' })
    world.service.clock.forward(8 * SECOND)
    const lost = sweep(dying.service)
    await reached
    await after(30)
    expect(polls()).toBe(before + 2)
    expect(await world.connections(person)).toMatchObject([{ state: 'pending', failure: null }])
    await after(31)
    expect(polls()).toBe(before + 3)
    expect(await world.connections(person)).toMatchObject([{ failure: expect.stringContaining('refused the code') }])
    await dying.abandon()
    await Promise.race([lost.catch(() => null), Promise.resolve()])
  })

  test('revoke tokens issued after the connection was removed, and do not accept a code as state', async () => {
    const person = await world.caller()
    const { body } = await start(person)
    const device = [...world.company.devices.keys()].at(-1)!
    const query = new URLSearchParams({ state: device, code: 'x', iss: world.company.origin }).toString()
    await expect(world.service.connections.finish(person.caller, query)).rejects.toThrow('unknown')
    world.company.enter({ who: 'eve' })
    world.company.next.push((request, response) => {
      void person
        .call('DELETE', `/v1/connections/${String(body.connection.id)}`)
        .then(() => world.company.issue(request, response))
    })
    await after(8)
    expect(world.company.revoked).toContain(world.company.lastRefresh)
    expect(await world.connections(person)).toEqual([])
  })
})
