import { randomBytes } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import { findPassDifferences } from '../../service/passes/store.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { findEscrowDifferences, findHoldDifferences } from '../../service/sales/store/held.ts'
import { startRelay, type Relay } from '../chain/relay.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { openTestDatabase } from '../harness/database.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { Seller } from '../outgoing-payments/seller.ts'
import { startStrangeFacilitator, type StrangeFacilitator } from '../paywall/facilitator.ts'
import { startUpstream, type Upstream } from '../paywall/upstream.ts'
import { liveSettings, send, walletKeys } from '../wallet/world.ts'
import { callWithKey, expectCharged, expectPrepaid, prepay } from './before/balances.ts'
import { Places } from './before/places.ts'
import { upgraded } from './before/rows.ts'
import { RECIPIENT, Sales, START, type Sold } from './before/sales.ts'
import {
  depositor,
  ENDS,
  openOf,
  orders,
  paidCalls,
  refunds,
  statesOf,
  TRANSFERS,
  withdrawals,
} from './before/transfers.ts'

/** A service of the version before, and then of this one with its rows. */
interface Store {
  places: Places
  settings: Record<string, string>
  before: TestService
  person: TestPerson
  sales: Sales
}

/**
 * Two services stand still in every state that a sale and a transfer can have; the gates of one are settled elsewhere. Their
 * rows, as the version before had them, are the databases that this version starts on.
 */
describe('databases of the version before, with sales and transfers in every state', () => {
  let chain: TestChain
  let relay: Relay
  let upstream: Upstream
  let facilitator: StrangeFacilitator
  let seller: Seller
  let own: Store
  let elsewhere: Store

  beforeAll(async () => {
    ;[chain, upstream, facilitator] = await Promise.all([
      startChain({ chainId: 8453 }),
      startUpstream(),
      startStrangeFacilitator(),
    ])
    await chain.mine(10)
    relay = await startRelay(chain.url)
    const common = {
      ...(await liveSettings(chain)),
      ...{ ALLOW_HOSTS: '127.0.0.1', PAYER_SEED: randomBytes(32).toString('hex'), SETTLE_CONFIRMATIONS: '1' },
      ...{ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0', WITHDRAWALS_PER_DAY: '0' },
      ...{ WITHDRAWAL_MINIMUM: '0.1', GAS_BUDGET_PER_DAY: '0', GAS_BUDGET_PER_PAYER_DAY: '0' },
      ...{ GAS_BUDGET_PER_RECIPIENT_DAY: '0', RATE_PAY_PER_MINUTE: '0', RATE_GATE_PER_MINUTE: '0' },
      ...{ RATE_TOOLS_PER_MINUTE: '0', RATE_SETTLE_PER_MINUTE: '0', RATE_VERIFY_PER_MINUTE: '0' },
    }
    own = await open(common)
    facilitator.behind = `${own.before.origin}/facilitator`
    elsewhere = await open({
      ...{ ...common, ...(await walletKeys('08')), PAYER_SEED: randomBytes(32).toString('hex') },
      ...{ SPONSOR_PRIVATE_KEYS: chain.accounts[1]!.privateKey, GATE_FACILITATOR_URL: facilitator.url },
    })
    seller = await new Seller(
      chain.network,
      chain.accounts[3]!.address,
      () => `${own.before.origin}/facilitator`,
    ).listen()
  })
  afterAll(async () => {
    await seller.close()
    await upstream.close()
    await facilitator.close()
    await chain.stop()
  })

  async function open(settings: Record<string, string>): Promise<Store> {
    const places = new Places()
    const before = await testService({ ...settings, BASE_RPC_URLS: relay.url }, { failpoints: places.failpoints })
    before.facilitator.start()
    await send(chain, [{ to: before.wallets.treasury()!, value: 1_000n * START }])
    const person = await depositor(before, chain)
    const sales = await Sales.open({ service: before, places, chain, upstream, seller: person })
    return { places, settings, before, person, sales }
  }

  test('are read alike, and every one ends as it should', async () => {
    const buyer = await depositor(own.before, chain)
    const tokens = await standStill(buyer)
    expect(statesOf(await openOf(own.before))).toEqual(TRANSFERS)
    const stores = [own, elsewhere]
    const read = await Promise.all(stores.map((store) => paymentsOf(store.before, store)))
    const urls = await Promise.all(stores.map(({ before }) => upgraded(before.testDatabase.url)))
    for (const { places, before } of stores) {
      places.end()
      await before.close()
    }
    const [after, there] = (await Promise.all(
      stores.map(({ settings }, at) =>
        testService({ ...settings, BASE_RPC_URLS: chain.url }, {}, openTestDatabase(urls[at]!)),
      ),
    )) as [TestService, TestService]
    facilitator.behind = `${after.origin}/facilitator`
    for (const [at, service] of [after, there].entries()) {
      expect(await paymentsOf(service, stores[at]!)).toEqual(read[at])
    }
    await end(after, there)
    expect(await endsOf(after)).toEqual(ENDS)
    expect(await usdcOf(chain, RECIPIENT)).toBe(await receivedBy(after, RECIPIENT))
    await expectPrepaid(after, tokens)
    await expectCharged(after, buyer.key)
    for (const [at, service] of [after, there].entries()) {
      await expectEnded(service, stores[at]!.sales.sold)
      await refundAll(service, stores[at]!, () => pass([after, there], 5_000))
    }
    await pass([after, there], 60_000)
    for (const service of [after, there]) {
      await expectSound(service)
      await service.close()
    }
  }, 180_000)

  async function standStill(buyer: TestPerson): Promise<string[]> {
    const { before, person, places, sales } = own
    await sales.end()
    await sales.simulate()
    await sales.give()
    await elsewhere.sales.sellElsewhere()
    await withdrawals(before, person, places)
    await refunds(before, person, chain, places)
    await paidCalls(before, person, seller, places)
    await orders(before, person, chain, places)
    await sales.standSigned()
    await sales.hold('onSuccess')
    await sales.hold('escrow')
    const tokens = await prepay({ service: before, places, chain, upstream, seller: person })
    await callWithKey({ places, upstream }, buyer)
    await sales.stopSending()
    for (const { run } of before.wallets.collecting) void run(new AbortController().signal)
    await until(async () => {
      const sweeps = (await openOf(before)).filter(({ kind, settlement }) => kind === 'sweep' && settlement !== null)
      return sweeps.length === TRANSFERS.sweep.length
    })
    await relay.stop()
    return tokens
  }

  async function pass(services: readonly TestService[], ms: number): Promise<void> {
    for (const { clock } of services) clock.forward(ms)
    await chain.call('evm_setNextBlockTimestamp', Math.floor(services[0]!.clock.now().getTime() / 1_000))
    await chain.mine(3)
  }

  async function end(...services: TestService[]): Promise<void> {
    for (const service of services) await service.start()
    const all = async <Row>(query: string, values: unknown[]) =>
      (await Promise.all(services.map(({ database }) => database.statements.run<Row>(query, values)))).flat()
    await until(async () => {
      const now = services[0]!.clock.now()
      // What takes real time. And no further than to what is due next, so that no authorization ends by this clock meanwhile.
      if ((await all(IN_WORK, [now])).length === 0) {
        const waits = (await all<{ at: Date | null }>(NEXT, [now])).map(
          ({ at }) => (at ?? now).getTime() - now.getTime(),
        )
        await pass(services, Math.max(5_000, Math.min(...waits.filter((ms) => ms > 0), 60_000)))
      }
      return (await all(UNDER_WAY, [])).length === 0
    })
    await until(async () => {
      await pass(services, 600_000)
      return (await openOf(services[0]!)).length === 0
    })
  }

  /** To the last cent, at the buyers and at the seller. */
  async function expectEnded({ database }: TestService, sold: readonly Sold[]): Promise<void> {
    const rows = await database.statements.run<SaleRow>(BOUGHT, [sold.map(({ id }) => id)])
    const found = sold.map(({ at, id }) => ({ at, id, ...rows.find((row) => row.id === id) }))
    expect(found.map(({ at, id, state, method }) => ({ at, id, state, method }))).toEqual(sold)
    for (const { at, payer, amount, state, method } of found) {
      if (method === 'simulated' || method === 'free') continue
      expect([at, await usdcOf(chain, payer!)]).toEqual([at, state === 'paid' ? START - amount! : START])
    }
  }

  /** What was paid goes back, of every product and method. */
  async function refundAll(
    service: TestService,
    { person: { key }, sales }: Store,
    next: () => Promise<void>,
  ): Promise<void> {
    const hasPrice = ({ at, method }: Sold) => /\bpaid\b/.test(at) && method !== 'free'
    const paid = sales.sold.filter((sale) => isSellers(sale) && hasPrice(sale))
    const balance = async () => (await service.call('GET', '/v1/wallet/balance', { key })).body.wallet.balance as number
    const before = await balance()
    for (const { at, id } of paid) {
      const refund = await service.call('POST', `/v1/payments/${id}/refund`, {
        key,
        body: { reason: 'Not as described' },
      })
      expect([at, refund.status, refund.text]).toEqual([at, 202, expect.any(String)])
    }
    await until(async () => {
      await next()
      return (await openOf(service)).length === 0
    })
    await expectEnded(
      service,
      paid.map((sale) => ({ ...sale, state: 'refunded' })),
    )
    const cost = paid.filter(({ method }) => method !== 'simulated').length * 0.02
    expect(await balance()).toBeCloseTo(before - cost, 6)
  }
})

/** What arrived there by all sales. */
async function receivedBy({ database }: TestService, recipient: string): Promise<bigint> {
  const [row] = await database.statements.run<{ sum: bigint }>(RECEIVED, [recipient])
  return row!.sum
}

async function expectSound({ database, ledger, wallets }: TestService): Promise<void> {
  const { statements } = database
  expect(await ledger.differences()).toEqual([])
  for (const find of [findRefundDifferences, findEscrowDifferences, findHoldDifferences, findPassDifferences])
    expect(await find(statements)).toEqual([])
  expect(await wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
}

async function endsOf({ database }: TestService) {
  const tables = Object.keys(ENDS).map(async (table) => {
    const query = `SELECT state::text, count(*)::int FROM ${table} GROUP BY 1`
    const states = await database.statements.run<{ state: string; count: number }>(query, [])
    return [table, Object.fromEntries(states.map(({ state, count }) => [state, count]))] as const
  })
  return Object.fromEntries(await Promise.all(tables))
}

/** All payments, as their seller reads them in the list and one by one. */
async function paymentsOf(service: TestService, { person: { key }, sales }: Store): Promise<unknown> {
  const read = async (path: string): Promise<unknown> => {
    const { status, body, text } = await service.call('GET', path, { key })
    if (status !== 200) throw new Error(`${path}: ${text}`)
    return body
  }
  const pages = [0, 100].map((offset) => `/v1/payments?limit=100&offset=${String(offset)}`)
  const each = sales.sold.filter(isSellers).map(({ id }) => `/v1/payments/${id}`)
  return await Promise.all([...pages, ...each].map(read))
}

/** A tool of the platform has no seller. */
const isSellers = ({ at }: Sold): boolean => !at.includes('tool')

interface SaleRow {
  id: string
  state: string
  method: string
  payer: Hex
  amount: bigint
}

const BOUGHT = 'SELECT id, state::text, method::text, payer, amount FROM sale WHERE id = ANY ($1)'
const RECEIVED = `
SELECT sum(amount)::bigint AS sum FROM sale WHERE recipient = $1 AND state IN ('paid', 'refunded') AND NOT simulated`
const UNDER_WAY = `SELECT FROM sale WHERE state IN ('claimed', 'held', 'settling') LIMIT 1`
const IN_WORK = `
SELECT FROM facilitator_settlement WHERE state NOT IN ('settled', 'failed')
UNION ALL SELECT FROM delivery WHERE state IN ('pending', 'claimed') AND due_at <= $1
UNION ALL SELECT FROM sale WHERE state IN ('claimed', 'held', 'settling')
  AND CASE state WHEN 'held' THEN resume_at ELSE greatest(resume_at, lease_until) END <= $1 LIMIT 1`
const NEXT = `
SELECT min(at) AS at FROM (
  SELECT CASE state WHEN 'held' THEN resume_at ELSE greatest(resume_at, lease_until) END AS at FROM sale
  WHERE state IN ('claimed', 'held', 'settling')
  UNION ALL SELECT due_at FROM delivery WHERE state IN ('pending', 'claimed')
) open WHERE at > $1`
