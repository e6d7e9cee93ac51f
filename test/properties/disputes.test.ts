import fc from 'fast-check'
import { usdc } from '../../service/kit/money.ts'
import { DEFAULT_POLICY, REASONS } from '../../service/disputes/model.ts'
import {
  decidedAmount,
  denialOf,
  dueAction,
  isAutomatic,
  trackRecordOf,
  UNASKED_PER_PAYER,
} from '../../service/disputes/rules.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_124)
const NOW = new Date('2026-11-24T10:00:00Z')
const EARLIER = new Date(NOW.getTime() - 1)
const PAYER = `0x${'b1'.repeat(20)}` as const

const micro = (max: number) => fc.bigInt({ min: 0n, max: BigInt(max) }).map((value) => usdc(value))
const sale = fc
  .record({
    amount: micro(5_000).map((value) => usdc(value + 1n)),
    part: fc.integer({ min: 0, max: 100 }),
    waiting: fc.integer({ min: 0, max: 100 }),
    state: fc.constantFrom('paid' as const, 'refunded' as const, 'settling' as const, 'failed' as const),
    days: fc.integer({ min: 0, max: 60 }),
    refundWindowDays: fc.option(fc.integer({ min: 0, max: 60 })),
  })
  .map(({ amount, part, waiting, state, days, refundWindowDays }) => {
    const endedAt = new Date(NOW.getTime() - days * 86_400_000)
    const returned = state === 'refunded' ? amount : usdc((amount * BigInt(part)) / 100n)
    // What is requested and waits, beside what went back.
    const refunded = usdc(returned + ((amount - returned) * BigInt(waiting)) / 100n)
    const answer = { handover: 'none' as const, result: null, refundWindowDays }
    return { amount, returned, refunded, state, payer: PAYER, endedAt, createdAt: endedAt, days, ...answer }
  })
const policy = fc.record({
  windowDays: fc.integer({ min: 0, max: 60 }),
  partialRefunds: fc.boolean(),
  agents: fc.constantFrom('automatic' as const, 'asked' as const),
  perSale: micro(5_000),
  perDay: micro(20_000),
})
const states = fc.constantFrom('open', 'refunding', 'refunded', 'declined', 'closed')

function check<T extends [unknown, ...unknown[]]>(property: fc.IProperty<T>): void {
  fc.assert(property, { seed: SEED, numRuns: 2_000 })
}

describe('the rules of disputes, for every sale, policy and request', () => {
  test('a request is accepted only within its window, up to the rest, for the address that paid', () => {
    const to = fc.constantFrom(null, PAYER, `0x${'c2'.repeat(20)}` as const)
    check(
      fc.property(sale, policy, micro(6_000), to, (sold, terms, requested, refundTo) => {
        const amount = usdc(requested + 1n)
        const { returned } = sold
        const about = { sale: sold, returned, policy: { ...DEFAULT_POLICY, ...terms }, now: NOW, before: null }
        const denial = denialOf({ amount, refundTo }, about)
        const left = sold.amount - returned
        const isFine =
          sold.state === 'paid' &&
          amount <= left &&
          sold.days < Math.max(terms.windowDays, sold.refundWindowDays ?? 0) &&
          (refundTo ?? PAYER) === PAYER &&
          (terms.partialRefunds || amount === left)
        expect(denial === null).toBe(isFine)
      }),
    )
  })

  test('a payment that has a dispute gets no second refund by a request', () => {
    check(
      fc.property(sale, policy, micro(6_000), states, (sold, terms, requested, state) => {
        const before = { state: state as 'open' }
        const { returned } = sold
        const about = { sale: sold, returned, policy: { ...DEFAULT_POLICY, ...terms }, now: NOW, before }
        const denial = denialOf({ amount: usdc(requested + 1n), refundTo: null }, about)
        const hasEnded = !['open', 'refunding'].includes(state)
        expect(!hasEnded || denial !== null).toBe(true)
      }),
    )
  })

  test('automatic refunds of any sequence stay within all limits, and none is for delivered work', () => {
    const request = fc.record({
      amount: micro(6_000),
      reason: fc.constantFrom(...REASONS),
      payer: fc.constantFrom('0xa', '0xb', '0xc'),
      handover: fc.constantFrom('none' as const, 'begun' as const, 'whole' as const, 'expired' as const),
      isServed: fc.boolean(),
      isOrderAddress: fc.boolean(),
      refunded: micro(6_000),
    })
    check(
      fc.property(policy, fc.array(request, { maxLength: 40 }), (terms, requests) => {
        let spent = usdc(0n)
        const shares = new Map<string, number>()
        for (const { amount, reason, payer, handover, isServed, isOrderAddress, refunded } of requests) {
          const ofPayer = shares.get(payer) ?? 0
          const bought = { amount: usdc(6_000n), refunded, handover, result: null, simulated: false }
          const request = { amount, reason, isServed, sale: bought }
          if (!isAutomatic(request, { ...DEFAULT_POLICY, ...terms }, { spent, ofPayer, isOrderAddress })) continue
          expect(isOrderAddress).toBe(false)
          expect(terms.agents === 'automatic' && amount <= terms.perSale && amount + refunded <= 6_000n).toBe(true)
          const isHandedOver = isServed || handover !== 'none'
          expect(reason === 'service_not_delivered' && isHandedOver).toBe(false)
          spent = usdc(spent + amount)
          shares.set(payer, ofPayer + 1)
        }
        expect(spent <= terms.perDay).toBe(true)
        expect([...shares.values()].every((count) => count <= UNASKED_PER_PAYER)).toBe(true)
      }),
    )
  })

  test('a deadline refunds what was asked for and not given since, no more than is left, in three attempts', () => {
    const amounts = fc.option(micro(6_000).map((value) => usdc(value + 1n)))
    const due = fc.record({
      unanswered: fc.constantFrom('refund' as const, 'close' as const),
      attempts: fc.integer({ min: 0, max: 10 }),
      reason: fc.constantFrom(...REASONS),
    })
    const made = fc.record({
      state: fc.constantFrom('funded' as const, 'sent' as const, 'confirmed' as const),
      since: fc.integer({ min: 0, max: 100 }),
      waitsSince: fc.boolean(),
    })
    check(
      fc.property(sale, amounts, due, made, (sold, amount, terms, { state, since, waitsSince }) => {
        const left = sold.amount - sold.refunded
        const given = usdc((sold.returned * BigInt(since)) / 100n)
        const dispute = { ...terms, amount, createdAt: NOW }
        const refunds = [
          { state: 'confirmed' as const, amount: usdc(sold.returned - given), createdAt: EARLIER },
          { state, amount: given, createdAt: NOW },
          { state: 'failed' as const, amount: sold.amount, createdAt: NOW },
          ...(sold.refunded === sold.returned
            ? []
            : [
                {
                  state: 'requested' as const,
                  amount: usdc(sold.refunded - sold.returned),
                  createdAt: waitsSince ? NOW : EARLIER,
                },
              ]),
        ]
        const action = dueAction(dispute, sold, refunds)
        const decided = decidedAmount(dispute, sold, refunds) ?? left
        expect(action !== 'refund' || (left > 0n && dispute.attempts < 3 && dispute.unanswered === 'refund')).toBe(true)
        // All that is asked for and not on its way, never a rest that an unpaid request leaves over.
        const owed = sold.amount - sold.returned
        const rest = amount === null ? owed : amount - given
        const expected = rest > owed ? owed : rest
        expect(action !== 'refund' || decided === expected).toBe(true)
        expect(action !== 'wait' || expected <= 0n).toBe(true)
        expect(action !== 'blocked' || (expected > 0n && sold.refunded > sold.returned)).toBe(true)
        expect(decided <= left).toBe(true)
        const isAll = sold.state === 'refunded' || (amount !== null && state === 'confirmed' && given >= amount)
        expect(action === 'refunded').toBe(isAll)
      }),
    )
  })

  test('public figures are whole percents of at least twenty customers, moved little by one', () => {
    const counted = fc.record({
      customers: fc.nat({ max: 1_000 }),
      refunded: fc.double({ min: 0, max: 1, noNaN: true }),
      disputed: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    check(
      fc.property(counted, ({ customers, ...parts }) => {
        const [refunded, disputed] = [parts.refunded * customers, parts.disputed * customers]
        const record = trackRecordOf({ customers, refunded, disputed })
        expect(record === null).toBe(customers < 20)
        const figures = record === null ? [] : [record.refundedPercent, record.disputedPercent]
        expect(figures.every((figure) => Number.isInteger(figure) && figure >= 0 && figure <= 100)).toBe(true)
        expect((record?.customers ?? 0) <= customers && (record?.customers ?? 0) % 10 === 0).toBe(true)
        const spoiled = trackRecordOf({ customers: customers + 1, refunded: refunded + 1, disputed: disputed + 1 })
        expect((spoiled?.disputedPercent ?? 0) - (record?.disputedPercent ?? 100)).toBeLessThanOrEqual(6)
      }),
    )
  })
})
