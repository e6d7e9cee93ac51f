import type { ServerResponse } from 'node:http'
import { createLog } from '../../service/api/log.ts'
import type { ReceivedRequest } from '../harness/stranger.ts'
import { Collector } from '../observe/collector.ts'
import { Upstream } from '../tools/calls/upstream.ts'
import { connectionWorld, json, type ConnectionWorld } from './world.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

/** A provider that repeats what it was sent wherever it can, and sends it on. */
describe('a hostile provider', () => {
  let world: ConnectionWorld
  let collector: Collector
  let stranger: Upstream
  let isClosed = false
  const lines: string[] = []
  /** All that callers were answered. */
  const answers: string[] = []
  beforeAll(async () => {
    collector = await new Collector().listen()
    stranger = await new Upstream().listen()
    stranger.respondWith('/collect', { got: true })
    const log = createLog('debug', [], { write: (line) => void lines.push(line) })
    world = await connectionWorld({ VAULT_KEY, OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin }, { log })
    world.company.clients.set('bot', 'bot-client-secret')
  })
  afterEach(() => {
    world.company.onCall = null
    world.company.next.length = 0
    world.company.metadataAt.clear()
  })
  afterAll(async () => {
    if (!isClosed) await world.close()
    await stranger.close()
    await collector.close()
  })

  const sweep = async () => {
    await world.service.connections.sweep(world.service.clock.now(), new AbortController().signal)
    await world.service.connections.sweepCodes(world.service.clock.now(), new AbortController().signal)
  }

  /** What was sent, in each place of an answer. */
  const places: readonly [string, (response: ServerResponse, sent: string) => void][] = [
    ['an error', (response, sent) => json(response, { error: sent, error_description: sent, error_uri: sent }, 400)],
    [
      'a code of an error',
      (response, sent) => json(response, { error: 'invalid_scope', error_description: sent }, 400),
    ],
    ['an answer that is not OAuth', (response, sent) => json(response, { message: sent, access_token: { sent } })],
    ['a page', (response, sent) => void response.writeHead(500, { 'content-type': 'text/html' }).end(`<b>${sent}`)],
    [
      'headers',
      (response, sent) =>
        void response
          .writeHead(401, {
            'www-authenticate': `Basic realm="${encodeURIComponent(sent)}"`,
            'x-echo': encodeURIComponent(sent),
          })
          .end('{}'),
    ],
    [
      'the address of a redirect',
      (response, sent) =>
        void response.writeHead(307, { location: `${stranger.url}/collect?t=${encodeURIComponent(sent)}` }).end(),
    ],
    [
      'the type of an answer',
      (response, sent) =>
        void response.writeHead(200, { 'content-type': `text/x; a=${encodeURIComponent(sent)}` }).end(sent),
    ],
  ]

  const echo =
    (repeat: (response: ServerResponse, sent: string) => void) =>
    (request: ReceivedRequest, response: ServerResponse) => {
      const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
      repeat(response, `${request.headers.authorization ?? ''} ${basic} ${request.body}`)
    }

  async function call(person: { call: ConnectionWorld['service']['call'] }, path: string, body: object): Promise<void> {
    answers.push((await person.call('POST', path, { body })).text)
  }

  test.each(places)(
    'cannot reveal secrets by repeating in %s what the token request contained',
    async (_place, repeat) => {
      const person = await world.connected('kim')
      const other = await world.caller()
      const begun = await other.call('POST', '/v1/connections/authorize', { body: { provider: 'notes' } })
      answers.push(begun.text.replace(/"authorizationUrl":"[^"]*"/, ''))
      const query = world.company.allow(String(begun.body.authorizationUrl), 'kim')
      world.company.next.push(echo(repeat))
      await expect(world.service.connections.finish(other.caller, query)).rejects.toMatchObject({
        code: 'authorization_refused',
      })
      world.company.next.push(echo(repeat))
      await call(other, '/v1/connections', { provider: 'notes', client: { id: 'bot', secret: 'bot-client-secret' } })
      // By a code.
      await call(other, '/v1/connections/authorize', { provider: 'notes', byCode: true })
      world.service.clock.forward(8_000)
      world.company.next.push(echo(repeat))
      await sweep()
      // In a renewal, by a call and by the sweeper.
      world.service.clock.forward(3_700_000)
      world.company.next.push(echo(repeat))
      answers.push((await world.call(person, 'notes-write')).text)
      world.company.next.push(echo(repeat))
      world.service.clock.forward(10_000)
      await sweep()
      for (const one of [person, other]) answers.push(JSON.stringify(await world.connections(one)))
      // A revocation.
      world.company.metadataAt.set('/revoke', (response) => repeat(response, world.company.lastRefresh))
      await person.call('DELETE', `/v1/connections/${person.connectionId}`)
      await sweep()
      expect(stranger.requests).toEqual([])
    },
  )

  test.each(places)('cannot reveal the access token by repeating it in %s', async (_place, repeat) => {
    const person = await world.connected('lou')
    world.company.onCall = (request, response) => repeat(response, request.headers.authorization!.slice(7))
    answers.push((await world.call(person, 'notes-write')).text, (await world.call(person, 'notes-get-me')).text)
    answers.push((await person.call('POST', `/v1/connections/${person.connectionId}/test`)).text)
    answers.push((await person.call('GET', '/v1/tool-calls')).text, JSON.stringify(await world.connections(person)))
    expect(stranger.requests).toEqual([])
  })

  test.each([
    ['two states', (query: string) => `${query}&state=x`],
    ['two codes', (query: string) => `${query}&code=x`],
    ['two issuers', (query: string) => `${query}&iss=x`],
    ['no code', (query: string) => query.replace(/code=[^&]*&/, '')],
    ['an error that is a text', (query: string) => `${query}&error=${encodeURIComponent('<b>secret-of-theirs')}`],
  ])('whose return has %s is refused with a sentence, and nothing is stored', async (_what, wrong) => {
    const person = await world.caller()
    const { body } = await person.call('POST', '/v1/connections/authorize', { body: { provider: 'notes' } })
    const query = wrong(world.company.allow(String(body.authorizationUrl), 'max'))
    const fault = await world.service.connections.finish(person.caller, query).then(
      () => null,
      (error: unknown) => (error as Error).message,
    )
    expect(fault).toMatch(/Nothing was stored. Connect again\.$/)
    expect(fault).not.toContain('secret-of-theirs')
    const rows = await world.service.database.statements.run<{ secret: string | null }>(
      'SELECT secret FROM connection WHERE user_id = $1',
      [person.caller.user.id],
    )
    expect(rows.filter(({ secret }) => secret !== null)).toEqual([])
  })

  test('has put no secret into an answer, a log, a trace or an event', async () => {
    const events = await world.service.testDatabase.statements.run<{ all: string }>(
      'SELECT row_to_json(delivery)::text AS all FROM delivery',
      [],
    )
    // Writes the traces that wait.
    isClosed = true
    await world.close()
    const places = {
      answers: answers.join('\n'),
      log: lines.join('\n'),
      traces: JSON.stringify(collector.spans),
      events: JSON.stringify(events),
    }
    expect(answers.length).toBeGreaterThan(60)
    expect(lines.length).toBeGreaterThan(20)
    expect(collector.spans.length).toBeGreaterThan(20)
    const basic = (pair: string) => Buffer.from(pair).toString('base64')
    const secrets = [/\bclient-secret/, /bot-client-secret/, /(access|refresh|device|code)-[\w-]{20}/]
    secrets.push(new RegExp(basic('coinslot:client-secret')), new RegExp(basic('bot:bot-client-secret')))
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) expect([place, secret.exec(text)?.[0] ?? null]).toEqual([place, null])
    }
  })
})
