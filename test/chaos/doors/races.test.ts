import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { usdcOf } from '../../facilitator/world.ts'
import { startChain, type TestAccount, type TestChain } from '../../harness/chain.ts'
import { answerTo, challengeIn, dialectsOf } from '../../harness/mpp.ts'
import { ServiceProcess } from '../../harness/process.ts'
import { openShop, PRICE, PRODUCTS, type Product, type Shop } from '../../harness/shop.ts'
import { startUpstream, type Upstream } from '../../paywall/upstream.ts'
import { walletKeys } from '../../wallet/world.ts'
import { openVictim, type Victim } from '../victim.ts'

const RACES = Number(process.env['CHAOS_RACES'] ?? 1_000)
const AT_ONCE = 25
/** A process is killed in one of so many rounds. */
const KILL_EVERY = 4
const PORTS = [4988, 4989] as const
const START = 1_000_000n

/** Both processes are reached under one name, as behind a balancer: what one asked for is paid at the other too. */
const PUBLIC = Object.fromEntries(
  Object.entries({ API: '/v1', TOOLS: '/tools', FACILITATOR: '/facilitator', PAY: '/p', GATE: '/gate' }).map(
    ([name, at]) => [`PUBLIC_${name}_URL`, originOf(PORTS[0]) + at],
  ),
)

/** One signature, in every form that a door takes: both versions of x402 at each product, MPP where it was asked for. */
interface Race {
  payer: TestAccount
  title: string
  tries: Try[]
}

interface Try {
  product: Product
  header: { name: string; value: string }
  /** Of each answer to it; null where the process died. */
  statuses: (number | null)[]
  code: string | undefined
}

describe(`${String(RACES)} races of one signature to every door of two processes`, () => {
  let chain: TestChain
  let upstream: Upstream
  let victim: Victim
  let second: ServiceProcess
  let shop: Shop

  beforeAll(async () => {
    chain = await startChain()
    upstream = await startUpstream()
    victim = await openVictim({
      port: PORTS[0],
      atOnce: 100,
      settings: {
        ...(await walletKeys()),
        ...PUBLIC,
        DEMO_PORT: '0',
        ...Object.fromEntries(['GATE', 'PAY', 'TOOLS', 'SETTLE', 'VERIFY'].map((of) => [`RATE_${of}_PER_MINUTE`, '0'])),
        TOOL_CALLS_AT_ONCE: '0',
        TOOL_PROVIDER_AT_ONCE: '1000',
        BASE_SEPOLIA_RPC_URLS: chain.url,
        SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
        ...Object.fromEntries(['', 'PAYER_', 'RECIPIENT_'].map((of) => [`GAS_BUDGET_PER_${of}DAY`, '0'])),
      },
    })
    await victim.begin()
    shop = await openShop({
      origin: originOf(PORTS[0]),
      upstream,
      async post(at, body) {
        const answer = await victim.call('POST', at, body)
        if (answer.status >= 300) throw new Error(`${at}: ${JSON.stringify(answer.body)}`)
        return answer.body
      },
      async importTool(document, server) {
        const file = path.join(victim.folder, 'document.json')
        writeFileSync(file, JSON.stringify(document))
        const words = ['import', file, '--provider', 'acme', '--price', '0.02', '--server', server]
        const node = ['service/dist/cli/tools.js', ...words]
        const env = { PATH: process.env['PATH'] ?? '', ...victim.settings }
        await promisify(execFile)(process.execPath, node, { env })
      },
    })
    second = await beginSecond()
    // Another process has imported the tool.
    for (const port of PORTS) await untilForSale(port)
  }, 120_000)
  afterAll(async () => {
    second.kill('SIGKILL')
    await victim.close()
    await upstream.close()
    await chain.stop()
  })

  test('end in one settlement and one product, and every other caller gets a true answer', async () => {
    const races: Race[] = []
    let cutOff = 0
    for (let round = 0; round * AT_ONCE < RACES; round++) {
      const fresh = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, place) => enter(`race-${String(round)}-${String(place)}`, place)),
      )
      races.push(...fresh)
      const attempts = fresh.flatMap(({ title, tries }) =>
        tries.map((one, place) => attempt(one, title, PORTS[(place + round) % 2]!)),
      )
      if (round % KILL_EVERY === 0) {
        // Somewhere between the first answer and the last.
        await Promise.race(attempts)
        const isFirst = round % (2 * KILL_EVERY) === 0
        if (isFirst) victim.kill()
        else second.kill('SIGKILL')
        await Promise.all(attempts)
        if (isFirst) await victim.begin()
        else second = await beginSecond()
        await victim.database.statements.run('UPDATE sale SET lease_until = now() WHERE lease_until > now()', [])
      } else await Promise.all(attempts)
      cutOff += fresh.flatMap(({ tries }) => tries).filter(({ statuses }) => statuses.includes(null)).length
    }
    expect(cutOff).toBeGreaterThan(0)
    await rested()

    // Everybody asks again, and whatever was cut off has ended.
    const counts = new Map<string, number>()
    for (const { payer, title, tries } of races) {
      for (const one of tries) await attempt(one, title, PORTS[0])
      const served = tries.filter(({ statuses }) => statuses.includes(200))
      const spent = START - (await usdcOf(chain, payer.address))
      const sales = await victim.database.statements.run<{ product: string; state: string }>(
        "SELECT product::text, state::text FROM sale WHERE payer = $1 AND state <> 'released'",
        [payer.address],
      )
      expect({ title, spent, sold: sales.map(({ state }) => state) }).toEqual({ title, spent: PRICE, sold: ['paid'] })
      expect(new Set([...served.map(({ product }) => product), sales[0]!.product]).size).toBe(1)
      for (const { statuses, code } of tries) {
        const last = statuses.at(-1)
        // 402 where the credential answers no challenge of the address, 409 for what is used or public, 200 for what is owed.
        expect({ title, last, statuses }).toEqual({ title, last: expect.any(Number), statuses: expect.any(Array) })
        expect([200, 202, 402, 409]).toContain(last)
        const name = `${String(last)} ${code ?? ''}`.trim()
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    }
    const [total] = await victim.database.statements.run<{ count: bigint }>('SELECT count(*) FROM sale', [])
    process.stdout.write(
      `${JSON.stringify({ races: races.length, cutOff, sales: Number(total!.count), answers: Object.fromEntries(counts) })}\n`,
    )
  }, 3_000_000)

  /** A payer signs once; the copies go to every door. */
  async function enter(title: string, place: number): Promise<Race> {
    const payer = await chain.payer(START)
    const at = PRODUCTS[place % PRODUCTS.length]!
    const unpaid = await fetch(shop[at].url, shop[at].requestOf(title))
    const text = await unpaid.text()
    if (unpaid.status !== 402) throw new Error(`${at} answers ${String(unpaid.status)} ${text}`)
    const { header: name, value } = await answerTo(payer, chain.network, challengeIn(unpaid.headers))
    const [mpp, ...others] = dialectsOf({ name, value }, chain.network)
    const tryOf = (product: Product, header: Try['header']): Try => ({ product, header, statuses: [], code: undefined })
    const tries = [tryOf(at, mpp!), ...PRODUCTS.flatMap((product) => others.map((header) => tryOf(product, header)))]
    return { payer, title, tries }
  }

  async function attempt(one: Try, title: string, port: number): Promise<void> {
    const { url, requestOf: body } = shop[one.product]
    const init = body(title)
    const headers = { ...(init.headers as Record<string, string>), [one.header.name]: one.header.value }
    try {
      const answer = await fetch(url.replace(originOf(PORTS[0]), originOf(port)), { ...init, headers })
      const { code, reason } = (await answer.json()) as { code?: string; reason?: string }
      one.statuses.push(answer.status)
      one.code = reason ?? code
    } catch {
      one.statuses.push(null)
    }
  }

  /** Waits until this process sells the tool. */
  async function untilForSale(port: number): Promise<void> {
    const { url, requestOf: body } = shop.tool
    for (const deadline = Date.now() + 60_000; ;) {
      const { status } = await fetch(url.replace(originOf(PORTS[0]), originOf(port)), body('unpaid'))
      if (status === 402) return
      if (Date.now() > deadline) throw new Error(`the tool answers ${String(status)}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async function beginSecond(): Promise<ServiceProcess> {
    const process = new ServiceProcess({ ...victim.settings, PORT: String(PORTS[1]) })
    await process.waitFor('"ready"')
    return process
  }

  async function rested(): Promise<void> {
    const deadline = Date.now() + 120_000
    for (;;) {
      const [open] = await victim.database.statements.run<{ count: bigint }>(
        "SELECT count(*) FROM sale WHERE state IN ('claimed', 'settling')",
        [],
      )
      if (open?.count === 0n) return
      if (Date.now() > deadline) throw new Error(`${String(open?.count)} are left half done`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
})

function originOf(port: number): string {
  return `http://127.0.0.1:${String(port)}`
}
