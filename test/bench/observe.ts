import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Agent, request } from 'undici'

/*
 * Measures what observability costs: the service's processor time per request, with and without log lines, and with
 * traces sent to a collector in this process. The services take turns, so that other load on the machine affects all of
 * them alike; it hardly affects the processor's own count.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 2)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const AT_ONCE = 16
const KEY = `csk_test_${'b'.repeat(43)}`

let exported = 0
const collector = createServer((request, answer) => {
  request.resume().on('end', () => {
    exported++
    answer.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`

const WAYS: Record<string, Record<string, string>> = {
  'no log, no traces': { LOG_LEVEL: 'warn' },
  'log, no traces': { LOG_LEVEL: 'info' },
  'log, a twentieth of the traces': { LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0.05' },
  'log, all traces': { LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT },
}
const ASKS = {
  'GET /v1/wallet/balance': { method: 'GET', path: '/v1/wallet/balance', body: null },
  'POST /v1/wallet/deposit': { method: 'POST', path: '/v1/wallet/deposit', body: JSON.stringify({ amount: 0.01 }) },
} as const
const agent = new Agent({ connections: AT_ONCE })
const services = await Promise.all(Object.values(WAYS).map((settings, place) => start(4_971 + place, settings)))

try {
  console.log('| request | watched by | processor ms each | against the first |\n| --- | --- | ---: | ---: |')
  for (const [name, call] of Object.entries(ASKS)) {
    for (const service of services) await cost(service, call, 1)
    const costs = services.map((): number[] => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [place, service] of services.entries()) costs[place]?.push(await cost(service, call, SECONDS))
    }
    const [first = []] = costs
    for (const [place, way] of Object.keys(WAYS).entries()) {
      const each = costs[place] ?? []
      const ratio = median(each.map((ms, round) => ms / (first[round] ?? 0)))
      console.log(`| ${name} | ${way} | ${median(each).toFixed(3)} | ${ratio.toFixed(2)} |`)
    }
  }
  console.log(`\n${String(exported)} batches of steps reached the collector.`)
} finally {
  await Promise.all(services.map((service) => service.end()))
  await agent.close()
  collector.closeAllConnections()
  collector.close()
}

interface Service {
  origin: string
  end(): Promise<void>
}

async function start(port: number, settings: Record<string, string>): Promise<Service> {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
  // Logs go to a file, as in production: emptying a pipe would be measured too.
  const lines = openSync(path.join(folder, 'log'), 'w')
  const child: ChildProcess = spawn(process.execPath, ['service/dist/main.js'], {
    stdio: ['ignore', lines, 'inherit'],
    env: {
      ...process.env,
      // Background work would be counted too.
      ...{
        ROLES: 'api',
        DATA_DIR: folder,
        PORT: String(port),
        DEMO_PORT: '0',
        DEMO_API_KEY: KEY,
        RATE_API_PER_MINUTE: '0',
      },
      ...settings,
    },
  })
  const origin = `http://127.0.0.1:${String(port)}`
  for (let ready = false; !ready && child.exitCode === null;) {
    ready = await fetch(`${origin}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (!ready) await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return {
    origin,
    async end() {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function cost({ origin }: Service, call: (typeof ASKS)[keyof typeof ASKS], seconds: number): Promise<number> {
  const before = await processorSeconds(origin)
  const end = performance.now() + seconds * 1_000
  let requests = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < end) {
        const { statusCode, body } = await request(origin + call.path, {
          dispatcher: agent,
          method: call.method,
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          body: call.body,
        })
        await body.dump()
        if (statusCode !== 200) throw new Error(`${call.path} answers ${String(statusCode)}`)
        requests++
      }
    }),
  )
  return ((await processorSeconds(origin)) - before) / (requests / 1_000)
}

async function processorSeconds(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
