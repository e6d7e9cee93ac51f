import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { newId } from '../../service/kit/ids.ts'
import { usdc, ZERO } from '../../service/kit/money.ts'
import { memoryBooks } from '../../service/paywall/middleware/memory.ts'
import type { Payment, Paywall, Pricing, Route, Tier } from '../../service/paywall/model.ts'
import type { PaymentJournal } from '../../service/paywall/service/deps.ts'
import { detailsOf, paymentOf } from '../../service/paywall/rules/payment.ts'
import { gateHooks } from '../../service/paywall/service/hooks.ts'
import { AnotherTier } from '../../service/paywall/service/product.ts'
import { nextTier, tierAt, tierOf, windowStart } from '../../service/paywall/rules/pricing.ts'
import { keyOf } from '../../service/paywall/rules/routes.ts'
import { createPaywallStore } from '../../service/paywall/store/paywalls.ts'
import { createPrepaidStore } from '../../service/paywall/store/prepaid.ts'
import { claimedSale, type NewSale, type Sale } from '../../service/sales/model.ts'
import { createJournal } from '../../service/sales/service/journal.ts'
import { createSaleStore } from '../../service/sales/store/sales.ts'
import type { RequestBody } from '../../service/x402/model.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

/*
 * A customer begins, abandons, resumes and pays calls in any order, and any number at once: the paid calls of a window
 * always cost at least what the tiers charge for that many. A customer who makes one call after the other pays exactly
 * that.
 */

const SEED = Number(process.env['SEED'] ?? 20_261_122)
const DAY_MS = 86_400_000

type Step =
  { act: 'begin'; calls: number } | { act: 'pay' | 'release' | 'fail' | 'retake'; which: number } | { act: 'tomorrow' }

const which = fc.nat(20)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 4 }).map((calls): Step => ({ act: 'begin', calls })) },
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constantFrom('pay' as const, 'pay' as const, 'release' as const, 'fail' as const, 'retake' as const),
      which,
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ act: 'tomorrow' }) },
)

/** Prices that fall, that grow, and that do both. */
const tiersOf = fc
  .tuple(
    fc.array(fc.record({ calls: fc.integer({ min: 1, max: 3 }), amount: fc.integer({ min: 1, max: 5 }) }), {
      maxLength: 3,
    }),
    fc.integer({ min: 1, max: 5 }),
  )
  .map(([bounded, last]): Tier[] => {
    let upTo = 0
    const tiers = bounded.map(({ calls, amount }): Tier => ({ upTo: (upTo += calls), amount: usdc(BigInt(amount)) }))
    return [...tiers, { upTo: null, amount: usdc(BigInt(last)) }]
  })

const history = fc.record({ tiers: tiersOf, steps: fc.array(step, { minLength: 4, maxLength: 40 }) })

/** The part of the journal that a tiered price needs. */
type TieredBooks = Pick<PaymentJournal, 'begin' | 'take' | 'release' | 'settling' | 'paid' | 'failed' | 'tier'>

interface Customer {
  books: TieredBooks
  paywall: Pick<Payment, 'paywallId' | 'owner'>
  payer: Payment['payer']
  route: string
  tiers: readonly Tier[]
  clock: { now(): Date; forward(ms: number): void }
}

describe('any history of a tiered price', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  test(`costs at least the price of its tiers, in memory (seed ${String(SEED)})`, async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ tiers, steps }) => {
        await live(inMemory(tiers), steps)
      }),
      { numRuns: 150, seed: SEED },
    )
  })

  test(`costs at least the price of its tiers, in the database (seed ${String(SEED)})`, async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ tiers, steps }) => {
        await live(await inDatabase(tiers), steps)
      }),
      { numRuns: 12, seed: SEED },
    )
  })

  test('costs exactly the price of its tiers, one call after the other', async () => {
    await fc.assert(
      fc.asyncProperty(tiersOf, fc.integer({ min: 1, max: 12 }), async (tiers, calls) => {
        const customer = inMemory(tiers)
        let total = ZERO
        for (let call = 0; call < calls; call++) {
          const shown = await shownTo(customer)
          const payment = await begin(customer, shown)
          if (payment === null) throw new Error('the price that was shown is not taken')
          await customer.books.settling(
            { id: payment.id, leaseUntil: null },
            { answer: null, bodyHash: null, details: null, amount: null },
            null,
          )
          await customer.books.paid(payment.id, `0x${String(call)}`, { handover: 'none', note: null })
          total = usdc(total + shown)
        }
        expect(total).toBe(owed(tiers, calls))
      }),
      { numRuns: 100, seed: SEED },
    )
  })

  function inMemory(tiers: readonly Tier[]): Customer {
    const clock = clockFrom('2026-11-22T10:00:00Z')
    const paywall = {
      paywallId: newId('pwl', clock.now()),
      owner: { userId: 'usr_1', environment: 'production' as const },
    }
    return { books: memoryBooks({ now: clock.now }), paywall, payer: PAYER, route: 'GET /data', tiers, clock }
  }

  async function inDatabase(tiers: readonly Tier[]): Promise<Customer> {
    const clock = clockFrom('2026-11-22T10:00:00Z')
    const owner = { userId: newId('usr', clock.now()), environment: 'production' as const }
    const route: Route = {
      method: 'GET',
      path: '/data',
      pricing: { model: 'tiered', tiers, window: 'day' } satisfies Pricing,
      description: null,
      settle: 'after',
      paymentIdentifier: 'optional',
      signIn: null,
    }
    const id = newId('pwl', clock.now())
    const paywall: Paywall = {
      id,
      owner,
      slug: id.replace('_', '-').toLowerCase(),
      name: 'Data',
      upstreamUrl: 'https://api.example',
      upstreamHeaders: [],
      testMode: false,
      status: 'active',
      milestones: [],
      routes: [route],
      recipient: PAYER,
      network: 'base-sepolia',
      version: 1,
      createdAt: clock.now(),
      updatedAt: clock.now(),
    }
    await createPaywallStore(database.statements).add(paywall, { headers: '', secret: '' })
    const prepaid = createPrepaidStore(database.statements)
    const journal = createJournal({
      store: createSaleStore(database.statements),
      purchases: {
        claim: (_inside, { purchaseId }) => Promise.resolve(purchaseId),
        prove: () => Promise.resolve(true),
      },
      hooks: { gate: gateHooks({ store: prepaid, deliveries: { event: () => Promise.resolve() }, clock }) },
      methods: { of: () => ({ signed: true, simulated: false }) },
      clock,
    })
    const books: TieredBooks = {
      ...journal,
      async tier(paywallId, route, payer, tiers, start, network) {
        return nextTier(tiers, await prepaid.places({ paywallId, route, payer, windowStart: start, network }))
      },
    }
    return { books, paywall: { paywallId: id, owner }, payer: PAYER, route: keyOf(route), tiers, clock }
  }
})

/** Plays the steps as a customer who pays the lowest price that is accepted for each call. */
async function live(customer: Customer, steps: readonly Step[]): Promise<void> {
  const { books, tiers, clock } = customer
  const open: Sale[] = []
  const released: Sale[] = []
  const paid = new Map<number, bigint[]>()
  for (const one of steps) {
    if (one.act === 'tomorrow') clock.forward(DAY_MS)
    else if (one.act === 'begin') {
      const begun = await Promise.all(Array.from({ length: one.calls }, () => beginCheaply(customer)))
      open.push(...begun.filter((payment) => payment !== null))
    } else if (one.act === 'retake') {
      const [payment] = released.splice(one.which % Math.max(released.length, 1), 1)
      if (payment === undefined) continue
      const details = { ...payment.details, windowStart: windowStart('day', clock.now()).toISOString() }
      const known = { id: payment.id, details, promised: false, balance: null }
      const sale = await unlessAnotherTier(() => books.take(known, leaseOf(clock.now()), tiers))
      if (sale === null) released.push(payment)
      else open.push(sale)
    } else {
      const [payment] = open.splice(one.which % Math.max(open.length, 1), 1)
      if (payment === undefined) continue
      if (one.act === 'release') {
        await books.release(payment, 'upstream_error')
        released.push(payment)
      } else if (one.act === 'fail') {
        await books.failed(payment.id, 'invalid_exact_evm_insufficient_balance')
      } else {
        const sale = await books.paid(payment.id, `0x${payment.id}`, { handover: 'none', note: null })
        const { windowStart: window } = paymentOf(sale)
        const start = window?.getTime() ?? 0
        paid.set(start, [...(paid.get(start) ?? []), payment.amount])
      }
    }
    for (const amounts of paid.values()) {
      const total = amounts.reduce((sum, amount) => sum + amount, 0n)
      expect(total).toBeGreaterThanOrEqual(owed(tiers, amounts.length))
    }
  }
}

async function beginCheaply(customer: Customer): Promise<Sale | null> {
  for (const amount of [...new Set(customer.tiers.map((tier) => tier.amount))].sort((a, b) => Number(a - b))) {
    const payment = await begin(customer, amount)
    if (payment !== null) return payment
  }
  return null
}

async function begin(customer: Customer, amount: Sale['amount']): Promise<Sale | null> {
  const { books, paywall, payer, route, tiers, clock } = customer
  const now = clock.now()
  const id = newId('pay', now)
  const { paywallId, owner } = paywall
  const about = {
    kind: 'request',
    route,
    endpoint: 'GET /data',
    windowStart: windowStart('day', now),
    cost: null,
  } as const
  const sale: NewSale = {
    ...{ id, product: 'gate', subject: paywallId, ...owner, amount, network: 'base-sepolia', recipient: PAYER, payer },
    ...{ method: 'exact', facilitator: null, simulated: false },
    digest: `0x${createHash('sha256').update(id).digest('hex')}`,
    request: REQUEST,
    ...{
      inputHash: createHash('sha256').digest(),
      tokenHash: null,
      identifier: null,
      escrow: null,
      resource: null,
      details: detailsOf(about),
    },
    ...{ leaseUntil: leaseOf(now), createdAt: now },
  }
  const bought = await unlessAnotherTier(() =>
    books.begin(sale, { state: 'claimed', resumeAt: null, promised: false, balance: null, note: tiers }),
  )
  return bought === id ? claimedSale(sale) : null
}

async function unlessAnotherTier<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof AnotherTier) return null
    throw error
  }
}

async function shownTo({ books, paywall, route, payer, tiers, clock }: Customer): Promise<Payment['amount']> {
  const start = windowStart('day', clock.now())
  const tier = await books.tier(paywall.paywallId, route, payer, tiers, start, 'base-sepolia')
  return tierOf(tiers, tier).amount
}

/** The price of a window's first calls by the tiers alone. */
function owed(tiers: readonly Tier[], calls: number): bigint {
  return Array.from({ length: calls }, (_, call) => tierOf(tiers, tierAt(tiers, call)).amount).reduce(
    (sum, amount) => sum + amount,
    0n,
  )
}

function leaseOf(now: Date): Date {
  return new Date(now.getTime() + 2 * 365 * DAY_MS)
}

function clockFrom(start: string): Customer['clock'] {
  let at = Date.parse(start)
  return {
    now: () => new Date(at),
    forward(ms) {
      at += ms
    },
  }
}

const PAYER = `0x${'ab'.repeat(20)}` as const

/** A request whose authorization lasts longer than any history. */
const REQUEST: RequestBody = {
  x402Version: 2,
  paymentPayload: {
    accepted: { scheme: 'exact', network: 'eip155:84532' },
    payload: {
      signature: '0x00',
      authorization: {
        ...{ from: PAYER, to: PAYER, value: '1', validAfter: '0', validBefore: '9999999999' },
        nonce: `0x${'00'.repeat(32)}`,
      },
    },
  },
  paymentRequirements: {
    ...{ scheme: 'exact', network: 'eip155:84532', amount: '1', payTo: PAYER, asset: PAYER },
    extra: { name: 'USDC', version: '2' },
  },
}
