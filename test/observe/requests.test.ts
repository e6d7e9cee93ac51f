import { createLog } from '../../service/api/log.ts'
import type { Surface } from '../../service/api/openapi.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'
import { importRequest } from '../tools/calls/world.ts'
import { documentOf } from '../tools/document.ts'
import { Collector, fits, type CollectedSpan } from './collector.ts'

const SECRETS = {
  password: 'correct horse battery staple',
  webhookHeader: 'creators-own-webhook-token',
  cookie: 'session-cookie-of-a-person',
  paymentToken: 'ptk_0123456789abcdefghijklmnop',
  bearer: 'csk_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  queryKey: 'csk_test_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB',
  mail: 'person.of.interest@mail.example',
  metricsToken: 'token-of-whoever-scrapes',
}

describe('the traces and logs of requests', () => {
  let world: RunWorld
  let collector: Collector
  const lines: string[] = []
  const log = createLog('debug', [SECRETS.metricsToken], { write: (line) => void lines.push(line) })
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)

  beforeAll(async () => {
    collector = await new Collector().listen()
    world = await runWorld(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin, METRICS_TOKEN: SECRETS.metricsToken },
      { log },
    )
    await world.service.start()
  })
  afterAll(async () => {
    await world.close()
    await collector.close()
  })

  test('one trace connects request, SQL, queue, worker and the creator’s endpoint, with log ids', async () => {
    const caller = await world.caller(1)
    const agent = await world.agent({
      webhookUrl: world.server.on('/traced', () => ({ body: 'done' })),
      webhookHeaders: { authorization: `Bearer ${SECRETS.webhookHeader}` },
    })
    const answer = await world.run(caller, agent, { async: true, inputs: { topic: SECRETS.mail } })
    expect(answer.status).toBe(202)
    const requestId = answer.headers.get('x-request-id')!
    const received = await world.server.waitForRequest('/traced')

    const path = ['POST /v1/run', /^sql /, /^announce /, /^handle /, 'call POST']
    const trace = await collector.traceWith(path)
    const request = one(trace, 'POST /v1/run')
    expect(request).toMatchObject({
      kind: 2,
      attributes: { 'coinslot.request_id': requestId, 'http.route': '/v1/run' },
    })
    expect(request.parentSpanId ?? '').toBe('')
    // From the creator's endpoint back to the request, step by step.
    const chain = ancestors(trace, one(trace, 'call POST')).map(({ name }) => name)
    expect(chain[0]).toBe('call POST')
    expect(chain.at(-1)).toBe('POST /v1/run')
    expect(chain.findIndex((name) => name.startsWith('handle '))).toBeLessThan(
      chain.findIndex((name) => name.startsWith('announce ')),
    )
    expect(received.headers['traceparent']).toBe(`00-${request.traceId}-${one(trace, 'call POST').spanId}-01`)
    expect(trace.some((span) => span.name.startsWith('prisma ') || span.name.startsWith('sql '))).toBe(true)

    const runId = String(answer.body.runId)
    const ofRequest = logged().filter((line) => line['requestId'] === requestId)
    expect(ofRequest.find(({ msg }) => msg === 'request')).toMatchObject({ runId, status: 202 })
  })

  test('a call of a catalogue tool is a step of the trace, which its provider gets nothing of', async () => {
    const caller = await world.caller(1)
    world.server.on('/notes', () => ({ body: { done: true } }))
    const operation = { path: '/notes', operationId: 'addNote', summary: 'Add a note', field: 'text' }
    const request = importRequest(world.server.url(''), { slug: 'acme' })
    await world.service.catalogue.importDocument(request, JSON.stringify(documentOf(operation)))
    const answer = await caller.call('POST', '/tools/acme-add-note', { body: { text: 'hello' } })
    expect(answer.status).toBe(200)
    const trace = await collector.traceWith([/^POST \/tools\//, 'call POST'])
    expect(trace.map(({ name }) => name)).toContain('call POST')
    const { headers } = await world.server.waitForRequest('/notes')
    expect(Object.keys(headers).filter((name) => name.startsWith('trace'))).toEqual([])
  })

  test('an external traceparent is linked and not continued', async () => {
    const theirs = 'a'.repeat(32)
    const headers = { traceparent: `00-${theirs}-${'b'.repeat(16)}-01` }
    const answer = await world.service.call('GET', '/v1/rdas', { headers })
    expect(answer.status).toBe(200)
    const [span] = (await collector.traceWith(['GET /v1/rdas'])).filter(({ name }) => name === 'GET /v1/rdas')
    expect(span!.traceId).not.toBe(theirs)
    expect(span!.links).toEqual([expect.objectContaining({ traceId: theirs })])
  })

  test('a handler that fails says whose run or delivery it was about', async () => {
    const caller = await world.caller(1)
    const webhookUrl = world.server.on('/refuses', () => ({ status: 500 }))
    const { body, headers } = await world.run(caller, await world.prompt(), { async: true, webhookUrl })
    await world.server.waitForRequest('/refuses')
    const events = await collector.traceWith(['POST /v1/run', /^handle deliveries/])
    expect(events.length).toBeGreaterThan(0)
    const concerned = logged().filter((line) => line['runId'] === body.runId)
    expect(concerned.map(({ requestId }) => requestId)).toContain(headers.get('x-request-id'))
  })

  test('no kind of request leaves a secret in the log or in a trace', async () => {
    const caller = await world.caller(1)
    const { surfaces, mounted } = world.service.served
    const before = lines.length
    const bodies = [
      { rdaSlug: 'none', inputs: { password: SECRETS.password, email: SECRETS.mail }, secret: SECRETS.webhookHeader },
      'not json',
    ]
    const sensitive = {
      cookie: `coinslot.session_token=${SECRETS.cookie}`,
      'x-payment-token': SECRETS.paymentToken,
      'x-payment-id': 'pay_01jd0000000000000000000000',
    }
    let requests = 0
    const send = async (method: string, path: string, key: string, body: unknown) => {
      requests++
      await world.service.call(method, `${path}?key=${SECRETS.queryKey}`, {
        key,
        headers: sensitive,
        ...(method === 'GET' ? {} : typeof body === 'string' ? { raw: body } : { body }),
      })
    }
    for (const { method, path } of surfaces.flatMap(addressesOf)) {
      await send(method, path, SECRETS.bearer, bodies[0])
      await send(method, path, caller.key, bodies[method === 'GET' ? 0 : 1])
    }
    for (const path of [...mounted, '/nowhere', '/metrics', '/trpc/identity.me']) {
      for (const method of ['GET', 'POST']) await send(method, path, SECRETS.bearer, bodies[0])
    }
    for (const path of ['/auth/sign-up/email', '/auth/sign-in/email']) {
      const body = { email: SECRETS.mail, password: SECRETS.password, name: 'P' }
      await world.service.call('POST', path, { body, headers: { origin: 'http://localhost:0' } })
    }
    const withErrors = lines.slice(before)
    expect(withErrors.filter((line) => line.includes('"msg":"request"')).length).toBeGreaterThanOrEqual(requests)
    const everything = [...lines, ...collector.spans.map((span) => JSON.stringify(span))].join('\n')
    for (const [name, secret] of Object.entries({ ...SECRETS, key: caller.key })) {
      expect([name, everything.includes(secret)]).toEqual([name, false])
    }
  })

  test("give every request's line its request id", () => {
    const requests = logged().filter(({ msg }) => msg === 'request')
    expect(requests.length).toBeGreaterThan(10)
    expect(requests.every(({ requestId }) => String(requestId).startsWith('req_'))).toBe(true)
  })
})

/** Every declared route, with ids that name nothing. */
function addressesOf({ address, routes }: Surface): { method: string; path: string }[] {
  const under = new URL(address).pathname.replace(/\/$/, '')
  return routes
    .filter(({ path }) => !path.includes('events'))
    .map(({ method, path }) => ({
      method: method.toUpperCase(),
      path: under + path.replace(/:\w+|\{[^}]*\}|\*\w+/g, 'chk_01jd0000000000000000000000'),
    }))
}

function one(trace: readonly CollectedSpan[], name: string | RegExp): CollectedSpan {
  const found = trace.filter((span) => fits(span.name, name))
  expect(found).not.toEqual([])
  return found[0]!
}

function ancestors(trace: readonly CollectedSpan[], from: CollectedSpan): CollectedSpan[] {
  const parent = trace.find(({ spanId }) => spanId === from.parentSpanId)
  return parent === undefined ? [from] : [from, ...ancestors(trace, parent)]
}
