import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { listen } from '../../service/api/server.ts'
import { signed } from '../checkouts/world.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { hasRedis, startRedis } from '../queue/redis.ts'

/*
 * From a customer's pay call to its answer, and to the workflow: simulated and with money, one after the other and at
 * a steady rate. With money, the chain mines at once, so what it takes is the service's own; a real chain adds its
 * blocks. Database, service, chain and receiver share the machine.
 */
const ALONE = 200
const STEADY = 1_000
const STEADY_EVERY_MS = 10
const KEY = `csk_test_${'b'.repeat(40)}`

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = await startEmbedded({ dataDir: path.join(folder, 'database') })
await migrate(embedded.url)
const redis = hasRedis() ? await startRedis() : null
const chain = await startChain()
const workflow = await startWorkflow()
console.log('| queue | payment | answer p50 ms | p99 ms | workflow p50 ms | p99 ms |')
console.log('| --- | --- | ---: | ---: | ---: | ---: |')
for (const [name, url] of Object.entries({ Redis: redis?.url, PostgreSQL: '' })) {
  if (url === undefined) continue
  await measure(url, (how, figures) => {
    console.log(`| ${name} | ${how} | ${figures.map((ms) => ms.toFixed(1)).join(' | ')} |`)
  })
}
await workflow.close()
await chain.stop()
await redis?.close()
await embedded.stop()
rmSync(folder, { recursive: true })

async function measure(redisUrl: string, report: (how: string, figures: readonly number[]) => void): Promise<void> {
  const config = readConfig({
    DATA_DIR: folder,
    DATABASE_URL: embedded.url,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'silent',
    DEMO_API_KEY: KEY,
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]?.privateKey ?? '',
    RATE_API_PER_MINUTE: '0',
    RATE_PAY_PER_MINUTE: '0',
    GAS_BUDGET_PER_DAY: '0',
    GAS_BUDGET_PER_PAYER_DAY: '0',
  })
  const service = await compose(config, { url: embedded.url, log: pino({ level: 'silent' }) })
  await service.identity.ensureDemoAccount({ apiKey: KEY })
  await service.start()
  const server = await listen(service.app, 0, '127.0.0.1')
  const origin = `http://127.0.0.1:${String(server.port)}`
  const test = await sell(origin, true)
  const real = await sell(origin, false)
  const simulations = (count: number) => Array.from({ length: count }, () => ({ input: {}, simulate: true }))
  // The first ones pay for what is compiled and connected once.
  await run(origin, test.id, simulations(50), true)
  report('simulated, alone', await run(origin, test.id, simulations(ALONE), true))
  report('simulated, 100/s', await run(origin, test.id, simulations(STEADY), false))
  const money = await authorizations(chain, real.requirements, ALONE)
  report('with money, alone', await run(origin, real.id, money, true))
  await written(service)
  await server.drain(1_000)
  await service.stop()
}

async function run(origin: string, id: string, bodies: readonly object[], alone: boolean): Promise<number[]> {
  const answers: number[] = []
  const arrivals: number[] = []
  const pay = async (body: object): Promise<void> => {
    const began = performance.timeOrigin + performance.now()
    const { payment } = (await post(`${origin}/p/${id}/pay`, body)) as { payment: { id: string; status: string } }
    if (payment.status !== 'paid') throw new Error(`a payment is ${payment.status}`)
    answers.push(performance.timeOrigin + performance.now() - began)
    arrivals.push((await workflow.arrivalOf(payment.id.replace('pay_', 'dlv_'))) - began)
  }
  const under: Promise<void>[] = []
  for (const body of bodies) {
    const paying = pay(body)
    if (alone) await paying
    else {
      under.push(paying)
      await new Promise((resolve) => setTimeout(resolve, STEADY_EVERY_MS))
    }
  }
  await Promise.all(under)
  return [...percentiles(answers), ...percentiles(arrivals)]
}

function percentiles(times: readonly number[]): [p50: number, p99: number] {
  const sorted = times.toSorted((a, b) => a - b)
  return [sorted[Math.floor(sorted.length * 0.5)] ?? 0, sorted[Math.floor(sorted.length * 0.99)] ?? 0]
}

async function sell(origin: string, testMode: boolean) {
  const terms = {
    callbackUrl: workflow.url,
    product: { name: 'Benchmark' },
    price: 1,
    network: 'base-sepolia',
    recipient: chain.accounts[3]?.address,
    testMode,
  }
  const created = (await post(`${origin}/v1/checkouts`, terms)) as { checkout: { id: string } }
  const view = (await (await fetch(`${origin}/p/${created.checkout.id}`)).json()) as {
    paymentRequirements: Parameters<typeof signed>[2]
  }
  return { id: created.checkout.id, requirements: view.paymentRequirements }
}

async function authorizations(on: TestChain, requirements: Parameters<typeof signed>[2], count: number) {
  const payers = await Promise.all(Array.from({ length: count }, () => on.payer(1_000_000n)))
  return await Promise.all(
    payers.map(async (payer) => ({ input: {}, paymentPayload: await signed(payer, on, requirements) })),
  )
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${String(response.status)} ${await response.text()}`)
  return await response.json()
}

async function written(service: Service): Promise<void> {
  for (;;) {
    const { rows } = await service.database.pool.query(`SELECT FROM delivery WHERE state <> 'delivered' LIMIT 1`)
    if (rows.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function startWorkflow() {
  const thread = new Worker(new URL('deliveries/receiver.mjs', import.meta.url))
  const arrivals = new Map<string, number>()
  const waiting = new Map<string, (at: number) => void>()
  const port = await new Promise<number>((resolve) => {
    thread.on('message', (message: { port?: number; came?: [string, number][] }) => {
      if (message.port !== undefined) resolve(message.port)
      for (const [id, at] of message.came ?? []) {
        arrivals.set(id, at)
        waiting.get(id)?.(at)
      }
    })
  })
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    /** When it came, by the clock of both threads. */
    arrivalOf: (id: string) =>
      new Promise<number>((resolve) => {
        const at = arrivals.get(id)
        if (at === undefined) waiting.set(id, resolve)
        else resolve(at)
      }),
    close: () => thread.terminate(),
  }
}
