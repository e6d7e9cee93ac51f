import { Agent, request } from 'undici'
import { installOwnPackage } from '../../service/launch/own-package.mjs'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { startCoinslot } from './facilitator/rivals.ts'
import { figuresOf, measured, median, processorMs, type Figures } from './kit/measure.ts'
import { startNginx, startProxy, startReference, startUpstream } from './paywall/rivals.ts'

/*
 * What a gate adds to a call: a free route and a prepaid one against the bare upstream and nginx, and a paid one
 * against the protocol's own middleware in front of the same upstream with the same facilitator. The chain mines at
 * once; chain, database, upstream and callers share the machine, so absolute figures say little elsewhere.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
/** A part of a way's name: only that way is measured, for a profile. */
const ONLY = process.env['BENCH_ONLY']
const PAYMENTS = Number(process.env['BENCH_PAYMENTS'] ?? 96)
const BARE = 'a bare proxy in Node'
const KEY = `csk_test_${'b'.repeat(40)}`

const chain = await startChain()
const upstream = await startUpstream()
const nginx = await startNginx(upstream.origin)
const proxy = await startProxy(upstream.origin)
const coinslot = await startCoinslot(chain, { DEMO_API_KEY: KEY, RATE_API_PER_MINUTE: '0', RATE_GATE_PER_MINUTE: '0' })
const origin = coinslot.origin.replace('/facilitator', '')
const agent = new Agent({ connections: 128 })
await installOwnPackage('test/conformance/v2')
const recipient = chain.accounts[3]?.address ?? '0x'
const reference = await startReference({
  FACILITATOR_URL: coinslot.origin,
  NETWORK: chain.network.caip2,
  PAY_TO: recipient,
  PRICE: '$0.01',
  UPSTREAM_URL: upstream.origin,
})
try {
  const gate = await sell()
  await passing(gate)
  if (ONLY === undefined) await paying(gate)
} finally {
  await agent.close()
  await reference.stop()
  await coinslot.stop()
  await nginx?.stop()
  await proxy.stop()
  await upstream.stop()
  await chain.stop()
}

interface Way {
  name: string
  url: string
  /** The process whose time is counted. */
  pid: number
  headers?: Record<string, string>
}

interface Measured extends Figures {
  /** Milliseconds of a processor that a request takes in the main thread of the process asked. */
  processor: number
}

async function sell(): Promise<string> {
  const metered = { model: 'per-token', input: 0.0001, output: 0.0001, minimum: 0.000001 }
  const created = await post('/v1/paywalls', {
    slug: 'bench',
    name: 'Benchmark',
    upstreamUrl: upstream.origin,
    network: chain.network.name,
    recipient,
    routes: [
      { method: 'GET', path: '/free', pricing: { model: 'free' } },
      { method: 'GET', path: '/paid', pricing: { model: 'per-request', amount: 0.01 } },
      { method: 'GET', path: '/top-up', pricing: { ...metered, maximum: 1000 } },
      { method: 'GET', path: '/prepaid', pricing: { ...metered, maximum: 0.01 } },
    ],
  })
  if (created.status !== 201) throw new Error(created.text)
  return `${origin}/gate/bench`
}

async function passing(gate: string): Promise<void> {
  const [payment] = await authorizations(chain, `${gate}/top-up`, 1)
  const filled = await send(`${gate}/top-up`, payment)
  const token = String(filled.headers['x-payment-token'])
  const ways: Way[] = [
    { name: 'the upstream itself', url: `${upstream.origin}/free`, pid: upstream.pid },
    ...(nginx === null ? [] : [{ name: 'nginx', url: `${nginx.origin}/free`, pid: nginx.pid }]),
    { name: BARE, url: `${proxy.origin}/free`, pid: proxy.pid },
    { name: 'gate, free', url: `${gate}/free`, pid: coinslot.pid },
    { name: 'gate, 402', url: `${gate}/paid`, pid: coinslot.pid },
    { name: 'gate, prepaid', url: `${gate}/prepaid`, pid: coinslot.pid, headers: { 'x-payment-token': token } },
  ].filter(({ name }) => ONLY === undefined || name.includes(ONLY))
  console.log(`| way | at once | a second | p50 ms | p99 ms | processor ms | of ${BARE} |`)
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const atOnce of [1, 16, 64]) {
    for (const way of ways) await measure(way, atOnce, 0.5)
    const rounds: Map<string, Measured>[] = []
    while (rounds.length < ROUNDS) {
      const round = new Map<string, Measured>()
      for (const way of ways) round.set(way.name, await measure(way, atOnce, SECONDS))
      rounds.push(round)
    }
    for (const { name } of ways) console.log(rowOf(name, atOnce, rounds))
  }
}

/** How much processor time one request takes of the bare proxy, and of this way, is compared within each round. */
function rowOf(name: string, atOnce: number, rounds: readonly Map<string, Measured>[]): string {
  const all = rounds.flatMap((round) => round.get(name) ?? [])
  const ratios = rounds.flatMap((round) => (round.get(BARE)?.processor ?? NaN) / (round.get(name)?.processor ?? NaN))
  const cells = [
    median(all.map(({ rate }) => rate)).toFixed(0),
    median(all.map(({ p50 }) => p50)).toFixed(2),
    median(all.map(({ p99 }) => p99)).toFixed(2),
    median(all.map(({ processor }) => processor)).toFixed(3),
    median(ratios).toFixed(2),
  ]
  return `| ${name} | ${String(atOnce)} | ${cells.join(' | ')} |`
}

async function paying(gate: string): Promise<void> {
  console.log('\n| paid through | at once | a second | p50 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |')
  const ways = { '@x402/express': `${reference.origin}/paid`, 'the gate': `${gate}/paid` }
  for (const url of Object.values(ways)) await pay(url, 8, 4)
  for (const atOnce of [1, 16]) {
    for (const [name, url] of Object.entries(ways)) {
      const { rate, p50, p99 } = await pay(url, atOnce === 1 ? PAYMENTS / 2 : PAYMENTS, atOnce)
      console.log(`| ${name} | ${String(atOnce)} | ${rate.toFixed(1)} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`)
    }
  }
}

async function pay(url: string, count: number, atOnce: number) {
  const payments = await authorizations(chain, url, count)
  const times: number[] = []
  const began = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let payment = payments.pop(); payment !== undefined; payment = payments.pop()) {
        const started = performance.now()
        const { status, text } = await send(url, payment)
        if (status !== 200) throw new Error(`${url} answered ${String(status)} ${text}`)
        times.push(performance.now() - started)
      }
    }),
  )
  return figuresOf(times, (performance.now() - began) / 1000)
}

async function measure({ url, pid, headers = {} }: Way, atOnce: number, seconds: number): Promise<Measured> {
  const expected = url.endsWith('/paid') ? 402 : 200
  let requests = 0
  const once = async () => {
    const { statusCode, body } = await request(url, { headers, dispatcher: agent })
    await body.dump()
    requests++
    if (statusCode !== expected) throw new Error(`${url} answered ${String(statusCode)}`)
  }
  const before = processorMs(pid)
  const figures = await measured(once, atOnce, seconds)
  return { ...figures, processor: (processorMs(pid) - before) / requests }
}

/** Authorizations for the address's offer, each of another payer. */
async function authorizations(on: TestChain, url: string, count: number): Promise<Record<string, string>[]> {
  const unpaid = await send(url)
  const header = Buffer.from(String(unpaid.headers['payment-required']), 'base64').toString()
  const { accepts } = JSON.parse(header) as { accepts: [{ amount: string; payTo: string }] }
  const [accepted] = accepts
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const payer: TestAccount = await on.payer(BigInt(accepted.amount))
      const { signature, ...terms } = await payer.authorize(on.network, accepted.payTo.toLowerCase() as `0x${string}`, {
        value: BigInt(accepted.amount),
      })
      const authorization = {
        ...terms,
        value: String(terms.value),
        validAfter: String(terms.validAfter),
        validBefore: String(terms.validBefore),
      }
      const payload = { x402Version: 2, accepted, payload: { signature, authorization } }
      return { 'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64') }
    }),
  )
}

async function send(url: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: received, body } = await request(url, { headers, dispatcher: agent })
  return { status: statusCode, headers: received, text: await body.text() }
}

async function post(path: string, body: object) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const { statusCode, body: received } = await request(origin + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    dispatcher: agent,
  })
  return { status: statusCode, text: await received.text() }
}
