import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Coinslot, verifyWebhook } from '../../service/client/coinslot.ts'
import { startSandbox, type Sandbox } from './sandbox.ts'

/** Many at `npm run prove -- long`. */
const EVENTS = process.env['LONG'] === 'true' ? 1_000 : 50
/** The event during which the service is killed: its answer comes when nobody is there to hear it. */
const HELD = (EVENTS * 2) / 5
const NAMES = ['payment.completed', 'run.completed', 'payment.failed'] as const

describe('coinslot listen', () => {
  let sandbox: Sandbox
  let hook: Server
  let listening: ChildProcess | undefined
  let output = ''
  const restarted = deferred()
  const received: { headers: IncomingHttpHeaders; body: string }[] = []
  beforeAll(async () => {
    sandbox = await startSandbox()
    hook = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.on('end', () => {
        const isHeld = received.length + 1 === HELD || isHeldAgain(request.headers)
        if (!isHeldAgain(request.headers)) received.push({ headers: request.headers, body })
        hook.emit('received')
        if (isHeld) void restarted.promise.then(() => response.end())
        else response.end()
      })
    }).listen(0, '127.0.0.1')
    await once(hook, 'listening')
  })
  afterAll(async () => {
    listening?.kill('SIGKILL')
    hook.close()
    await sandbox.close()
  })

  /** On a slow machine the restart outlasts the time that a forward waits for its answer, and it is sent again. */
  const isHeldAgain = (headers: IncomingHttpHeaders): boolean =>
    received.length === HELD && headers['webhook-id'] === received[HELD - 1]!.headers['webhook-id']

  async function start(...more: string[]): Promise<void> {
    const { port } = hook.address() as AddressInfo
    const words = ['listen', '--forward-to', `127.0.0.1:${String(port)}/hook`, '--name', 'test', ...more]
    output = ''
    const child = spawn('coinslot', words, { env: sandbox.environment, stdio: ['ignore', 'ignore', 'pipe'] })
    listening = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      hook.emit('said')
    })
    child.once('exit', () => hook.emit('said'))
    while (!output.includes('signed with')) {
      await once(hook, 'said')
      if (child.exitCode !== null) throw new Error(`coinslot listen ended: ${output}`)
    }
  }

  async function waitForEvents(count: number): Promise<void> {
    while (received.length < count) await once(hook, 'received')
  }

  it('forwards events in order, each once and validly signed, through a crash of the service', async () => {
    await start()
    const client = new Coinslot({ key: sandbox.key, baseUrl: sandbox.url })
    const [endpoint] = (await client.webhookEndpoints.list()).items
    const sent: string[] = []
    const send = async (): Promise<void> => {
      const event = NAMES[sent.length % NAMES.length]!
      const { deliveries } = await client.webhookEndpoints.test(endpoint!.id, { event })
      sent.push(...deliveries.map(({ id }) => id))
    }
    while (sent.length < EVENTS / 2) await send()
    // A tenth of the events waits behind the one that is with the workflow now.
    await waitForEvents(HELD)
    await sandbox.restart()
    restarted.resolve()
    while (sent.length < EVENTS) await send()
    await waitForEvents(EVENTS)
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(sent)
    const secret = /signed with (\S+)/.exec(output)![1]!
    for (const [place, { headers, body }] of received.entries()) {
      expect(await verifyWebhook(body, headers, secret)).toMatchObject({ event: NAMES[place % NAMES.length] })
    }
    expect(output).toContain('Trying again.')
  })

  it('forwards an event again that is redelivered or replayed while it runs', async () => {
    const client = new Coinslot({ key: sandbox.key, baseUrl: sandbox.url })
    const [endpoint] = (await client.webhookEndpoints.list()).items
    const count = received.length
    const id = received.at(-1)!.headers['webhook-id'] as string
    const path = { id }
    // Before its confirmation, and after it.
    for (const times of [1, 2]) {
      await client.request('POST /v1/deliveries/{id}/redeliver', { path })
      await waitForEvents(count + times)
      await delivered(client, id)
    }
    const { createdAt } = (await client.request('GET /v1/deliveries/{id}', { path })).delivery
    const again = { path: { id: endpoint!.id }, body: { since: createdAt } }
    expect(await client.request('POST /v1/webhook-endpoints/{id}/events/replay', again)).toEqual({ replayed: 1 })
    await waitForEvents(count + 3)
    await delivered(client, id)
    expect(received.slice(count).map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id])
  })

  it('forwards redeliveries and test events, and with --since the events of the time before', async () => {
    const before = received.length
    listening!.kill('SIGINT')
    expect((await once(listening!, 'exit'))[0]).toBe(0)
    const client = new Coinslot({ key: sandbox.key, baseUrl: sandbox.url })
    const [endpoint] = (await client.webhookEndpoints.list()).items
    const { deliveries } = await client.webhookEndpoints.test(endpoint!.id, { event: 'run.completed' })
    await start()
    await waitForEvents(before + 1)
    expect(received.at(-1)!.headers['webhook-id']).toBe(deliveries[0]!.id)
    listening!.kill('SIGINT')
    await once(listening!, 'exit')
    await start('--since', new Date(Date.now() - 3_600_000).toISOString())
    expect(output).toContain(`${String(EVENTS + 1)} events are sent again.`)
    await waitForEvents(before + 1 + EVENTS + 1)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS + 1)
  })
})

async function delivered(client: Coinslot, id: string): Promise<void> {
  for (;;) {
    const { delivery } = await client.request('GET /v1/deliveries/{id}', { path: { id } })
    if (delivery.status === 'delivered') return
    await setTimeout(50)
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve: () => resolve() }
}
