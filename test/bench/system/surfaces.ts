import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Agent } from 'undici'
import { request } from 'undici'
import type { Topology } from '../../system/topology.ts'
import { Payments } from '../facilitator/payments.ts'

export interface Surface {
  readonly name: string
  /** Sends one request to this process; rejects if the response is not the expected one. */
  send(origin: string): Promise<void>
  /** Creates what the requests use up, before the clock runs. */
  prepare?(count: number): Promise<void>
}

export const KEY = `csk_test_${'s'.repeat(43)}`

/** The requests that users send to each surface, with everything that must exist before. */
export async function openSurfaces(
  topology: Topology,
  { agent, upstream, folder }: { agent: Agent; upstream: { notes: string; free: string }; folder: string },
): Promise<Surface[]> {
  const [first] = topology.processes
  if (first === undefined || topology.chain === null) throw new Error('the surfaces need a process and a chain')
  const { chain } = topology

  async function send(at: string, { body, headers = {} }: Sent = {}) {
    const answer = await request(at, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body:
        body === undefined ? null : typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body,
      dispatcher: agent,
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, headers: answer.headers, text }
  }
  const own = { authorization: `Bearer ${KEY}` }
  async function call(at: string, sent: Sent = {}): Promise<string> {
    const { status, text } = await send(at, { ...sent, headers: { ...own, ...sent.headers } })
    if (status >= 300) throw new Error(`${at} answered ${String(status)}: ${text}`)
    return text
  }
  const begin = async (at: string, body: object) => JSON.parse(await call(`${first.url}${at}`, { body })) as Created

  await untilKnown()
  await begin('/v1/wallet/deposit', { amount: 1_000_000 })
  await begin('/v1/rda', {
    ...{ slug: 'bench-echo', type: 'prompt', name: 'Echo', description: 'Says it again' },
    inputSchema: [{ name: 'topic', label: 'Topic', type: 'text', required: true }],
    promptConfig: {
      promptTemplate: 'About {{topic}}',
      allowedModels: ['sandbox/echo'],
      defaultModelId: 'sandbox/echo',
    },
  })
  await begin('/v1/rda/bench-echo/publish', {})
  const { checkout } = await begin('/v1/checkouts', {
    ...{ callbackUrl: upstream.notes, product: { name: 'Bench' }, price: 1, network: 'base-sepolia' },
    ...{ testMode: true, lifetime: 'persistent', fields: [] },
  })
  importTool(first.settings, upstream.notes, folder)
  const token = await sellGate()
  const payments = await Payments.open(chain, 512)
  const verified = await payments.take(256)
  let settled: Buffer[] = []
  let turn = 0

  /** A sandbox answers a moment before its demo account exists. */
  async function untilKnown(): Promise<void> {
    const deadline = performance.now() + 60_000
    while ((await send(`${first?.url ?? ''}/v1/me`, { headers: own })).status !== 200) {
      if (performance.now() > deadline) throw new Error('the demo account did not come')
      await wait(50)
    }
  }

  async function sellGate(): Promise<string> {
    const metered = { model: 'per-token', input: 0.0001, output: 0.0001, minimum: 0.000001 }
    await begin('/v1/paywalls', {
      ...{
        slug: 'bench',
        name: 'Bench',
        upstreamUrl: upstream.free.replace(/\/free$/, ''),
        network: chain.network.name,
      },
      recipient: chain.accounts[3]?.address,
      routes: [
        { method: 'GET', path: '/free', pricing: { model: 'free' } },
        { method: 'GET', path: '/top-up', pricing: { ...metered, maximum: 1000 } },
        { method: 'GET', path: '/prepaid', pricing: { ...metered, maximum: 0.01 } },
      ],
    })
    const at = `${first?.url ?? ''}/gate/bench/top-up`
    const unpaid = await send(at)
    const header = Buffer.from(String(unpaid.headers['payment-required']), 'base64').toString()
    const [accepted] = (JSON.parse(header) as { accepts: { amount: string; payTo: `0x${string}` }[] }).accepts
    if (accepted === undefined) throw new Error('the gate asks for nothing')
    const payer = await chain.payer(BigInt(accepted.amount))
    const terms = { value: BigInt(accepted.amount) }
    const { signature, ...signed } = await payer.authorize(
      chain.network,
      accepted.payTo.toLowerCase() as `0x${string}`,
      terms,
    )
    const authorization = {
      ...signed,
      ...Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, String(value)])),
    }
    const payload = { x402Version: 2, accepted, payload: { signature, authorization } }
    const paid = await send(at, {
      headers: { 'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64') },
    })
    if (paid.status !== 200) throw new Error(`the gate answered ${String(paid.status)}: ${paid.text}`)
    return String(paid.headers['x-payment-token'])
  }

  async function expecting(words: string, at: string, body: Buffer): Promise<void> {
    const { text } = await send(at, { body })
    if (!text.includes(words)) throw new Error(`${at} answered ${text}`)
  }

  return [
    { name: 'API: list the marketplace', send: (origin) => done(call(`${origin}/v1/rdas`)) },
    { name: 'API: balance', send: (origin) => done(call(`${origin}/v1/wallet/balance`)) },
    {
      name: 'API: run (echo)',
      send: (origin) => done(call(`${origin}/v1/run`, { body: { rdaSlug: 'bench-echo', inputs: { topic: 'bees' } } })),
    },
    {
      name: 'tools: call, charged',
      send: (origin) => done(call(`${origin}/tools/bench-create-note`, { body: { title: 'A note' } })),
    },
    {
      name: 'checkout: pay (test)',
      send: (origin) => done(call(`${origin}/p/${checkout?.id ?? ''}/pay`, { body: { input: {}, simulate: true } })),
    },
    {
      name: 'facilitator: verify',
      send: (origin) =>
        expecting(
          '"isValid":true',
          `${origin}/facilitator/verify`,
          verified[turn++ % verified.length] ?? Buffer.alloc(0),
        ),
    },
    {
      name: 'facilitator: settle',
      async prepare(count) {
        settled = await payments.take(count)
      },
      async send(origin) {
        const payment = settled.pop()
        if (payment === undefined) throw new Error('the prepared payments are used up')
        await expecting('"success":true', `${origin}/facilitator/settle`, payment)
      },
    },
    { name: 'gate: free', send: (origin) => done(call(`${origin}/gate/bench/free`)) },
    {
      name: 'gate: prepaid',
      send: (origin) => done(call(`${origin}/gate/bench/prepaid`, { headers: { 'x-payment-token': token } })),
    },
    {
      name: 'dashboard: runs by day',
      send: (origin) => done(call(`${origin}/trpc/runs.days?input=${encodeURIComponent('{"days":30}')}`)),
    },
  ]
}

interface Sent {
  body?: object | Buffer
  headers?: Record<string, string>
}

interface Created {
  checkout?: { id: string }
}

async function done(answer: Promise<unknown>): Promise<void> {
  await answer
}

/** Imports a tool as the operator of a server does. */
function importTool(settings: Readonly<Record<string, string>>, address: string, folder: string): void {
  const title = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } }
  const answer = { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } }
  const post = {
    ...{ operationId: 'createNote', summary: 'Write a note down', responses: { 200: answer } },
    requestBody: { required: true, content: { 'application/json': { schema: title } } },
  }
  const document = path.join(folder, 'bench.json')
  const paths = { [new URL(address).pathname]: { post } }
  writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info: { title: 'Bench', version: '1' }, paths }))
  const words = ['import', document, '--provider', 'bench', '--price', '0.0001', '--server', new URL(address).origin]
  execFileSync(process.execPath, ['service/dist/cli/tools.js', ...words], {
    env: { PATH: process.env['PATH'] ?? '', ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
