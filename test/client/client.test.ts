import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signatureOf } from '../../service/deliveries/rules/messages.ts'
import { Coinslot, CoinslotError, verifyWebhook, type SignatureError } from '../../service/client/coinslot.ts'
import { readEvents } from '../../service/client/stream.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

const CHECKOUT = {
  callbackUrl: 'http://localhost:9/hook',
  product: { name: 'SEO audit' },
  price: 5,
  network: 'base-sepolia',
  testMode: true,
} as const

describe('the client', () => {
  let service: TestService
  let person: TestPerson
  let relay: Server
  let relayed: Coinslot
  /** What the relay does with the next answers of the service: passes them on, or breaks the connection instead. */
  const faults: ('drop' | 'pass')[] = []
  const keys: (string | undefined)[] = []
  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '0' })
    person = await service.person()
    relay = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        keys.push(request.headers['idempotency-key'] as string | undefined)
        const headers = { authorization: request.headers.authorization!, 'content-type': 'application/json' }
        const key = request.headers['idempotency-key']
        const answer = await fetch(service.origin + request.url!, {
          method: request.method!,
          headers: { ...headers, ...(typeof key === 'string' ? { 'idempotency-key': key } : {}) },
          body: chunks.length === 0 ? null : Buffer.concat(chunks),
        })
        const text = await answer.text()
        if (faults.shift() === 'drop') response.destroy()
        else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
      })()
    }).listen(0, '127.0.0.1')
    await once(relay, 'listening')
    const { port } = relay.address() as AddressInfo
    relayed = new Coinslot({ key: person.key, baseUrl: `http://127.0.0.1:${String(port)}` })
  })
  afterAll(async () => {
    relay.close()
    await service.close()
  })

  it('sends a request again with its key when the answer was lost, and the work is done once', async () => {
    keys.length = 0
    faults.push('drop', 'drop', 'pass')
    const { checkout } = await relayed.checkouts.create(CHECKOUT)
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(3)
    const listed = await relayed.checkouts.list()
    expect(listed.items.map(({ id }) => id)).toEqual([checkout.id])
  })

  it('stops after as many retries as it may make, with the reason', async () => {
    keys.length = 0
    faults.push('drop', 'drop')
    const failed = relayed.checkouts.create(CHECKOUT, { retries: 1 })
    await expect(failed).rejects.toMatchObject({ name: 'CoinslotError', code: 'connection_failed', status: null })
    expect(keys).toHaveLength(2)
    // An operation that may not know keys is not repeated without one.
    keys.length = 0
    faults.push('drop', 'pass')
    await expect(relayed.request('POST /v1/wallet/deposit', { body: { amount: 1 } })).rejects.toThrow(CoinslotError)
    expect(keys).toHaveLength(1)
    // A change takes no key: repeated, it could be refused although it was done.
    keys.length = 0
    faults.splice(0, faults.length, 'drop', 'pass')
    const renamed = relayed.request('PATCH /v1/me', { body: { handle: 'ada' } }, { idempotencyKey: 'k' })
    await expect(renamed).rejects.toMatchObject({ code: 'connection_failed', idempotencyKey: null })
    expect(keys).toEqual([undefined])
    faults.length = 0
  })

  it('throws refusals by their code, with the fields', async () => {
    const client = new Coinslot({ key: person.key, baseUrl: service.origin })
    const wrong = client.checkouts.create({ ...CHECKOUT, price: -1 })
    await expect(wrong).rejects.toMatchObject({ status: 400, details: { price: expect.any(String) } })
    await expect(client.payments.get('pay_none')).rejects.toMatchObject({
      status: 404,
      requestId: expect.any(String),
      docUrl: `${service.origin}/errors/payment_not_found`,
    })
    await expect(client.payments.get('../keys')).rejects.toMatchObject({ status: 404 })
    await expect(client.payments.get('..')).rejects.toMatchObject({ code: 'invalid_id' })
    const other = new Coinslot({ key: 'csk_test_wrong', baseUrl: service.origin })
    await expect(other.checkouts.list()).rejects.toMatchObject({ status: 401 })
  })

  it('reads every page of a list, and the first one alone', async () => {
    const seller = await service.person()
    const client = new Coinslot({ key: seller.key, baseUrl: service.origin })
    const created: string[] = []
    for (let count = 0; count < 7; count++) created.unshift((await client.checkouts.create(CHECKOUT)).checkout.id)
    const all: string[] = []
    for await (const { id } of client.checkouts.list({ limit: 3 })) all.push(id)
    expect([...all].sort()).toEqual([...created].sort())
    const page = await client.checkouts.list({ limit: 3 })
    expect([page.items.length, page.total]).toEqual([3, 7])
  })

  it('ends at once when its caller aborts, and at its time limit', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const client = new Coinslot({ key: 'k', baseUrl: `http://127.0.0.1:${String(port)}` })
    const stop = new AbortController()
    const waiting = client.checkouts.list({}, { signal: stop.signal }).then(undefined, (error: unknown) => error)
    stop.abort(new Error('no longer needed'))
    const reason = new Error('no longer needed')
    expect(await waiting).toMatchObject({ name: 'CoinslotError', code: 'aborted', cause: reason, idempotencyKey: null })
    const late = client.checkouts.list({}, { timeoutMs: 20, retries: 0 })
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
    silent.closeAllConnections()
    silent.close()
  })

  it('an aborted call names its key where it may have been done, while it is sent and between two attempts', async () => {
    let arrived: () => void = () => undefined
    let busy = false
    const server = createServer((_, response) => {
      if (busy) response.writeHead(503, { 'retry-after': '30' }).end('busy')
      arrived()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = new Coinslot({ key: 'k', baseUrl: `http://127.0.0.1:${String(port)}` })
    const reason = new Error('the page was closed')
    for (busy of [false, true]) {
      const stop = new AbortController()
      const arrival = new Promise<void>((resolve) => (arrived = resolve))
      const failed = client.runs
        .create({ rdaSlug: 'a', inputs: {} }, { signal: stop.signal })
        .catch((error: unknown) => error)
      await arrival
      stop.abort(reason)
      expect(await failed).toMatchObject({ code: 'aborted', cause: reason, idempotencyKey: expect.any(String) })
    }
    // Nothing was sent, so there is nothing to repeat.
    const never = client.runs.create({ rdaSlug: 'a', inputs: {} }, { signal: AbortSignal.abort(reason) })
    await expect(never).rejects.toMatchObject({ code: 'aborted', cause: reason, idempotencyKey: null })
    server.closeAllConnections()
    server.close()
  })

  it('refuses a redirect itself, also where fetch cannot, and sends nothing to its target', async () => {
    let requests = 0
    const server = createServer((request, response) => {
      requests++
      response.writeHead(307, { location: `http://${String(request.headers.host)}/elsewhere` }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const options = { key: 'k', baseUrl: `http://127.0.0.1:${String(port)}` }
    // As workers of Cloudflare do.
    const worker: typeof fetch = async (url, init) => {
      if (init?.redirect === 'error') throw new TypeError('Invalid redirect value, must be one of "follow" or "manual"')
      return await fetch(url, init)
    }
    const client = new Coinslot({ ...options, fetch: worker })
    await expect(client.payments.get('pay_1')).rejects.toMatchObject({ code: 'unexpected_answer', status: 307 })
    await expect(client.runs.stream('run_1').next()).rejects.toMatchObject({ code: 'unexpected_answer', status: 307 })
    expect(requests).toBe(2)
    // As browsers do.
    const hidden = { type: 'opaqueredirect', status: 0, ok: false, body: null, headers: new Headers() } as Response
    const browser = new Coinslot({ ...options, fetch: () => Promise.resolve(hidden) })
    await expect(browser.payments.get('pay_1')).rejects.toMatchObject({ code: 'unexpected_answer', status: null })
    server.close()
  })

  it('names the payment of an answer with a status that no Response can have', async () => {
    for (const status of [101, 600, 999]) {
      const paid = {
        response: { status, headers: {}, body: '', encoding: 'utf8' },
        payment: { id: 'pay_1', status: 'settled' },
      }
      const client = new Coinslot({ baseUrl: service.origin, fetch: () => Promise.resolve(Response.json(paid)) })
      const error = await client.fetch('https://seller.example/', { maxAmount: 1 }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'CoinslotError', body: paid, message: expect.stringContaining('pay_1') })
    }
  })

  it('follows a run through a connection that breaks and a restart of the service, and no further than a refusal', async () => {
    let connections = 0
    const restarting = createServer((_, response) => {
      connections++
      const run = (status: string): string => `event: run\ndata: ${JSON.stringify({ status })}\n\n`
      if (connections === 2) response.writeHead(503).end('<html>')
      else if (connections === 4)
        response.writeHead(404).end('{"error":"There is no such run.","code":"run_not_found"}')
      else if (connections === 3) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(run('succeeded'))
      else
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(run('running'), () => response.destroy())
    }).listen(0, '127.0.0.1')
    await once(restarting, 'listening')
    const { port } = restarting.address() as AddressInfo
    const client = new Coinslot({ key: 'k', baseUrl: `http://127.0.0.1:${String(port)}` })
    const states: string[] = []
    for await (const { status } of client.runs.stream('run_1')) states.push(status)
    expect(states).toEqual(['running', 'succeeded'])
    expect(connections).toBe(3)
    await expect(client.runs.stream('run_1').next()).rejects.toMatchObject({ code: 'run_not_found' })
    expect(connections).toBe(4)
    restarting.close()
  })

  it('reads a stream the same for every size of its chunks', async () => {
    const text = ':\n\nevent: status\nid: 1\ndata: {"a":"ü\\n"}\n\n:\n\nevent: status\ndata: {"a":2}\n\n'
    for (const size of [1, 2, 3, 7, 1_000]) {
      const bytes = new TextEncoder().encode(text)
      const cut = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
          controller.close()
        },
      })
      const events = []
      for await (const event of readEvents(cut, new AbortController().signal, () => undefined)) events.push(event)
      expect(events).toEqual([
        { event: 'status', id: '1', data: { a: 'ü\n' } },
        { event: 'status', id: null, data: { a: 2 } },
      ])
    }
  })
})

describe('a webhook', () => {
  const body = '{"event":"payment.completed","data":{"id":"pay_1","name":"Zürich"}}'
  const now = new Date('2026-01-31T12:00:00Z')
  const seconds = now.getTime() / 1000
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`, 'a plain secret of 24 characters']
  const signed = (with_: readonly string[], at = seconds) => ({
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(at),
    'webhook-signature': signatureOf(with_, 'dlv_1', at, body),
  })

  it.each(secrets)('is accepted with the signature of the service (%s), also while secrets rotate', async (secret) => {
    const event = { event: 'payment.completed', data: { id: 'pay_1', name: 'Zürich' } }
    expect(await verifyWebhook(body, signed([secret]), secret, { now })).toEqual(event)
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    const bytes = new TextEncoder().encode(body)
    expect(await verifyWebhook(bytes, new Headers(signed([other, secret])), secret, { now })).toEqual(event)
  })

  it('is refused when it was changed, is old or early, or lacks a header; and without a secret', async () => {
    const secret = secrets[0]!
    const code = (text: string, headers: Record<string, string>) =>
      verifyWebhook(text, headers, secret, { now }).then(
        () => 'accepted',
        (error: unknown) => (error as SignatureError).code,
      )
    expect(await code(`${body} `, signed([secret]))).toBe('signature_invalid')
    expect(await code(body, { ...signed([secret]), 'webhook-id': 'dlv_2' })).toBe('signature_invalid')
    expect(await code(body, signed([secrets[1]!]))).toBe('signature_invalid')
    expect(await code(body, { ...signed([secret]), 'webhook-signature': 'v1,%%% v1, v2,x' })).toBe('signature_invalid')
    expect(await code(body, signed([secret], seconds - 301))).toBe('timestamp_outside_tolerance')
    expect(await code(body, signed([secret], seconds + 301))).toBe('timestamp_outside_tolerance')
    expect(await code(body, { ...signed([secret]), 'webhook-timestamp': 'NaN' })).toBe('timestamp_outside_tolerance')
    const headers = signed([secret], seconds - 301)
    const unlimited = verifyWebhook(body, headers, secret, { now, toleranceSeconds: Number.NaN })
    await expect(unlimited).rejects.toMatchObject({ code: 'timestamp_outside_tolerance' })
    expect(await code(body, {})).toBe('signature_missing')
    await expect(verifyWebhook(body, signed([secret]), '', { now })).rejects.toThrow('secret is missing')
  })
})
