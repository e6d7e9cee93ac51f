import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { request } from 'undici'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { ServiceProcess } from '../harness/process.ts'
import { growthOfRequest, growthOfRequests, type GrowingRequest } from '../harness/request-growth.ts'
import { freePort } from '../harness/ports.ts'
import { growingRequests, type Document } from './fuzz/growing.ts'

/** `npm run fuzz` asks all of them; here some show that the measuring works, and the rest has no time. */
const isWhole = process.env['FUZZ_GROWTH'] === 'all'
const SOME = 12
const TOGETHER = 6
/** On a machine that does much else the list may be longer than the time: what is left out is said. */
const BUDGET_MS = 55_000

describe('time and memory of an answer', () => {
  let careless: ServiceProcess
  let origin: string
  beforeAll(async () => {
    careless = new ServiceProcess({}, 'test/security/fuzz/careless.ts')
    const port = /"ready" (\d+)/.exec(await careless.waitFor(/"ready" \d+/))?.[1] ?? ''
    origin = `http://127.0.0.1:${port}`
  })
  afterAll(async () => {
    careless.kill('SIGTERM')
    await careless.ended()
  })

  test.each([
    // Long enough to stop the loop also where the pattern is compiled only for the larger requests.
    ['/slow', 65_536, /times as long|stood still/],
    ['/large', 8_192, /times the memory|times as long|stood still/],
  ])(
    'are reported when they grow out of proportion at %s',
    async (at, largest, fault) => {
      expect(await growthOfRequest(origin, careless.pid ?? 0, zeros(at, largest))).toMatch(fault)
    },
    60_000,
  )

  test('are not reported when they grow in proportion', async () => {
    expect(await growthOfRequest(origin, careless.pid ?? 0, zeros('/proportionate', 524_288))).toBeNull()
  })
})

function zeros(at: string, largest: number): GrowingRequest {
  return {
    name: at,
    largest,
    make: (size) => ({ method: 'POST', path: at, headers: {}, body: Buffer.from(`${'0'.repeat(size - 1)}1`) }),
  }
}

describe('every reader of the service', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-growth-'))
  const key = `csk_test_${'g'.repeat(43)}`
  let database: TestDatabase
  let service: ServiceProcess
  let origin: string
  beforeAll(async () => {
    database = await testDatabase()
    const port = await freePort()
    origin = `http://127.0.0.1:${String(port)}`
    service = new ServiceProcess({
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PORT: String(port),
      DEMO_API_KEY: key,
      LOG_LEVEL: 'info',
      METRICS_KEEP_MS: '60000',
      TOOL_CALLS_AT_ONCE: '0',
      ...Object.fromEntries(LIMITS.map((name) => [`RATE_${name}_PER_MINUTE`, '0'])),
    })
    await service.waitFor('"ready"')
  })
  afterAll(async () => {
    service.kill('SIGTERM')
    await service.ended()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    'takes time and memory linear in the input',
    async () => {
      const requests = growingRequests({
        document: (await call('GET', '/openapi.json')) as unknown as Document,
        key,
        place: () => 'nobody-has-this',
        procedures: PROCEDURES,
        paid: await paidPaths(),
        bodyBytes: 262_144,
      })
      const until = performance.now() + BUDGET_MS
      const chosen = isWhole ? mixed(requests) : mixed(requests).slice(0, SOME)
      const faults: string[] = []
      let measured = 0
      while (measured < chosen.length && performance.now() < until) {
        const works = chosen.slice(measured, measured + TOGETHER)
        const grown = await growthOfRequests(origin, service.pid ?? 0, { works, until })
        measured += grown.measured
        faults.push(...grown.faults)
      }
      console.log(`${String(measured)} of ${String(requests.length)} requests that grow`)
      expect(faults).toEqual([])
    },
    BUDGET_MS + 180_000,
  )

  async function call(method: 'GET' | 'POST', at: string, body?: object): Promise<Record<string, unknown>> {
    const { statusCode, body: answer } = await request(origin + at, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.text()
    if (statusCode >= 300) throw new Error(`${method} ${at}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  async function paidPaths(): Promise<string[]> {
    const recipient = `0x${'11'.repeat(20)}`
    const terms = { network: 'base-sepolia', recipient, testMode: true }
    const callbackUrl = 'http://127.0.0.1:9/flow'
    const { checkout } = await call('POST', '/v1/checkouts', {
      ...{ callbackUrl, product: { name: 'Audit' }, price: 1 },
      ...terms,
    })
    const routes = ['GET', 'POST'].map((method) => ({
      method,
      path: '/*',
      pricing: { model: 'per-request', amount: 0.01 },
    }))
    const upstreamUrl = 'http://127.0.0.1:9'
    await call('POST', '/v1/paywalls', { slug: 'growth', name: 'Growth', upstreamUrl, ...terms, routes })
    return [`/p/${(checkout as { id: string }).id}/pay`, '/gate/growth/x', '/tools/pay/demo-text-statistics']
  }
})

const LIMITS = ['API', 'SIGN_IN', 'DRAFT_READS', 'VERIFY', 'SETTLE', 'PAY', 'TOOLS', 'GATE']
/** The reader of a procedure's input is one for all; some of each capability stand for the others. */
const PROCEDURES = ['keys.create', 'checkouts.create', 'paywalls.create', 'rda.create', 'agents.create'].map(
  (name) => ({
    name,
    mutation: true,
  }),
)

/** The same order each time, in which what is alike is far apart: what is left out for lack of time is some of each. */
function mixed(requests: readonly GrowingRequest[]): GrowingRequest[] {
  const step = 97
  const order = Array.from({ length: requests.length }, (_, place) => (place * step) % requests.length)
  return [...new Set(order)].map((place) => requests[place]!)
}
