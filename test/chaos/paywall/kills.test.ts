import type { Hex } from '../../../service/chain/model.ts'
import { usdcOf } from '../../facilitator/world.ts'
import { startChain, type TestAccount, type TestChain } from '../../harness/chain.ts'
import { json, startUpstream, type Upstream } from '../../paywall/upstream.ts'
import { signed } from '../../paywall/world.ts'
import { newToken } from '../token.ts'
import { openVictim, type Victim } from '../victim.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 6)
const CUSTOMERS = 20
const PORT = 4978
const PRICE = 50_000n
const MOST = 20_000n
const COST = 5_000n
const START = 1_000_000n

/** A customer with one authorization and a token, who repeats the request with both until it is answered. */
interface Customer {
  payer: TestAccount
  path: '/exact' | '/metered'
  headers: Record<string, string>
  served: number
  requests: number
  done: boolean
}

describe(`kill -9 of a gate ${String(KILLS)} times`, () => {
  let chain: TestChain
  let upstream: Upstream
  let victim: Victim
  const recipient: Hex = '0x00000000000000000000000000000000000000d1'

  beforeAll(async () => {
    chain = await startChain()
    upstream = await startUpstream()
    victim = await openVictim({
      port: PORT,
      atOnce: CUSTOMERS,
      settings: {
        DEMO_PORT: '0',
        RATE_GATE_PER_MINUTE: '0',
        RATE_SETTLE_PER_MINUTE: '0',
        BASE_SEPOLIA_RPC_URLS: chain.url,
        SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
        GAS_BUDGET_PER_DAY: '0',
        GAS_BUDGET_PER_PAYER_DAY: '0',
      },
    })
  })
  afterAll(async () => {
    await victim.close()
    await upstream.close()
    await chain.stop()
  })

  const gate = (path: string): string => `http://127.0.0.1:${String(PORT)}/gate/chaos${path}`
  const rows = <Row>(text: string): Promise<Row[]> => victim.database.statements.run<Row>(text, [])

  /** Null where the process died meanwhile. */
  async function buy(customer: Customer): Promise<number | null> {
    customer.requests++
    try {
      const answer = await fetch(gate(customer.path), { headers: customer.headers })
      const body = (await answer.json()) as { code?: string }
      if (answer.status === 200) customer.served++
      customer.done ||= answer.status === 200 || body.code === 'payment_delivered'
      return answer.status
    } catch {
      return null
    }
  }

  /** Ends the leases of a dead process, as time would. */
  async function timePasses(): Promise<void> {
    await rows('UPDATE sale SET lease_until = now() WHERE lease_until > now()')
  }

  test('no payer is charged twice, every payer gets the answer, and no hold is left', async () => {
    await victim.begin()
    const { status } = await victim.call('POST', '/v1/paywalls', {
      slug: 'chaos',
      name: 'Chaos',
      upstreamUrl: upstream.url,
      network: 'base-sepolia',
      recipient,
      routes: [
        { method: 'GET', path: '/exact', pricing: { model: 'per-request', amount: 0.05 } },
        {
          method: 'GET',
          path: '/metered',
          pricing: { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 },
        },
      ],
    })
    expect(status).toBe(201)
    const offers = {
      '/exact': await offerOf('/exact'),
      '/metered': await offerOf('/metered'),
    }
    let waiting: (() => void)[] = []
    let slow = true
    for (const path of ['/exact', '/metered']) {
      upstream.on(path, (_request, response) => {
        const release = (): void => json(response, 200, { usage: { input_tokens: 1_000, output_tokens: 2_000 } })
        // Every third call is slow, so that the kill finds calls in every state.
        if (slow && upstream.requests.length % 3 === 0) waiting.push(release)
        else release()
      })
    }

    const customers: Customer[] = []
    let cutOff = 0
    for (let kill = 0; kill < KILLS; kill++) {
      waiting = []
      const fresh = await Promise.all(
        Array.from({ length: CUSTOMERS }, (_, place) => arrive(place % 2 === 0 ? '/exact' : '/metered', offers)),
      )
      customers.push(...fresh)
      let answered = 0
      const buying = [...fresh, ...customers.filter(({ done }) => !done).slice(0, 10)].map(async (customer) => {
        if ((await buy(customer)) === null) cutOff++
        else answered++
      })
      const all = buying.length
      while (answered < (all * (kill % 4)) / 6 && answered + waiting.length < all) await new Promise(setImmediate)
      victim.kill()
      await Promise.all(buying)
      for (const release of waiting) release()
      await victim.begin()
      await timePasses()
    }
    expect(cutOff).toBeGreaterThan(KILLS)

    slow = false
    const deadline = Date.now() + 120_000
    for (;;) {
      const open = customers.filter(({ done }) => !done)
      if (open.length === 0) break
      if (Date.now() > deadline) throw new Error(`${String(open.length)} never had their answer`)
      await Promise.all(open.map(buy))
      await timePasses()
    }
    await rows('UPDATE paywall_hold SET until = now()')
    await rested()

    const balances = await rows<Record<'available' | 'held' | 'paid' | 'drawn', bigint> & { payer: string }>(
      'SELECT payer, available, held, paid, drawn FROM paywall_balance',
    )
    const byPayer = new Map(balances.map((balance) => [balance.payer, balance]))
    for (const { payer, path, requests } of customers) {
      expect(await usdcOf(chain, payer.address)).toBe(START - (path === '/exact' ? PRICE : MOST))
      if (path === '/exact') continue
      const balance = byPayer.get(payer.address)!
      expect(balance).toMatchObject({ held: 0n, paid: MOST, available: MOST - balance.drawn })
      // A call that was cut off may have been served and charged, and be repeated.
      expect(balance.drawn).toBeGreaterThan(0n)
      expect(balance.drawn).toBeLessThanOrEqual(COST * BigInt(requests))
    }
    const sum = customers.reduce((all, { path }) => all + (path === '/exact' ? PRICE : MOST), 0n)
    expect(await usdcOf(chain, recipient)).toBe(sum)
    process.stdout.write(
      `${JSON.stringify({ kills: KILLS, customers: customers.length, cutOff, upstream: upstream.requests.length })}\n`,
    )
  }, 600_000)

  async function offerOf(path: string): Promise<Parameters<typeof signed>[2]> {
    const answer = await fetch(gate(path))
    expect(answer.status).toBe(402)
    return { body: await answer.json(), headers: answer.headers }
  }

  async function arrive(
    path: Customer['path'],
    offers: Record<Customer['path'], Parameters<typeof signed>[2]>,
  ): Promise<Customer> {
    const payer = await chain.payer(START)
    const headers = { ...(await signed(payer, chain, offers[path])), 'X-Payment-Token': newToken() }
    return { payer, path, headers, served: 0, requests: 0, done: false }
  }

  async function rested(): Promise<void> {
    const deadline = Date.now() + 60_000
    for (;;) {
      const [open] = await rows<{ count: bigint }>(
        `SELECT (SELECT count(*) FROM sale WHERE state IN ('claimed', 'settling'))
              + (SELECT count(*) FROM paywall_hold) AS count`,
      )
      if (open?.count === 0n) return
      if (Date.now() > deadline) throw new Error(`${String(open?.count)} are left half done`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
})
