import fc from 'fast-check'
import type { Hex } from '../../service/chain/model.ts'
import { usdc } from '../../service/kit/money.ts'
import type { PaymentAddress } from '../../service/payment-addresses/model.ts'
import type { PaymentAddressView } from '../../service/payment-addresses/service/addresses.ts'
import {
  decide,
  isFinalRefusal,
  nextLook,
  returnable,
  statusOf,
  type Attempt,
} from '../../service/payment-addresses/rules.ts'
import { openWorld, until, type World } from '../checkouts/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { send, walletKeys } from '../wallet/world.ts'

/** `npm run prove -- transfers` has a thousand of them. */
const HISTORIES = Number(process.env['HISTORIES'] ?? 40)
const PRICE = 1_000_000n
const ROUNDS = 6

describe('generated histories of plain transfers', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: await walletKeys() })
    await world.chain.mine(10)
  })
  afterAll(() => world.close())

  interface History {
    path: string
    token: string
    address: Hex
    home: Hex
    /** What the buyer sends in each round; 0 is nothing. */
    sends: readonly bigint[]
    /** In which round the buyer wants back what is left; none where it is beyond the last. */
    reclaimRound: number
    sent: bigint
  }

  const some = fc.record({
    sends: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(0n) },
        { weight: 2, arbitrary: fc.constant(PRICE) },
        { weight: 3, arbitrary: fc.bigInt(1n, 2n * PRICE) },
        { weight: 1, arbitrary: fc.bigInt(1n, 40_000n) },
      ),
      { minLength: ROUNDS, maxLength: ROUNDS },
    ),
    reclaimRound: fc.integer({ min: 0, max: ROUNDS + 4 }),
  })

  async function look(ms: number): Promise<void> {
    // A settlement takes real time: no authorization may end by this clock meanwhile.
    await world.settled()
    world.service.clock.forward(ms)
    const time = Math.floor(world.service.clock.now().getTime() / 1_000)
    await world.chain.call('evm_setNextBlockTimestamp', time)
    await world.chain.mine(4)
    for (const { run } of world.service.paymentAddresses.sweepers) await run(new AbortController().signal)
  }

  const viewOf = async ({ path, token }: History) =>
    (await world.call('GET', path, { headers: { 'X-Payment-Token': token } })).body.address as PaymentAddressView

  const giveBack = async ({ path, token, home }: History) =>
    (await world.call('POST', `${path}/return`, { body: { to: home }, headers: { 'X-Payment-Token': token } })).status

  async function openReturns(): Promise<bigint> {
    const [row] = await world.service.database.statements.run<{ open: bigint }>(
      `SELECT count(*) AS open FROM payment_address_return WHERE state = 'open'`,
      [],
    )
    return row?.open ?? 0n
  }

  it(
    'pays each order once or never, and the rest is the buyer’s: the chain and the rows agree',
    async () => {
      const checkout = await world.sell()
      const shapes = fc.sample(some, {
        numRuns: HISTORIES,
        seed: Number(process.env['SEED'] ?? 20_261_121),
      })
      const histories: History[] = []
      await inTurn(shapes, async (shape) => {
        const { address, token } = (await world.call('POST', `/p/${checkout.id}/addresses`, { body: {} })).body as {
          address: PaymentAddressView
          token: string
        }
        const home = (await world.chain.payer(0n)).address
        const path = `/p/${checkout.id}/addresses/${address.id}`
        histories.push({ ...shape, path, token, home, address: address.address.toLowerCase() as Hex, sent: 0n })
      })
      const before = await usdcOf(world.chain, world.recipient)

      for (let round = 0; round < ROUNDS; round++) {
        const transfers = histories.flatMap((one) => {
          const value = one.sends[round] ?? 0n
          one.sent += value
          return value === 0n ? [] : [{ to: one.address, value }]
        })
        for (let at = 0; at < transfers.length; at += 200) await send(world.chain, transfers.slice(at, at + 200))
        // One round is a day later, so that some of it is late.
        await look(round === ROUNDS - 2 ? 86_400_000 : 60_000)
        await inTurn(
          histories.filter(({ reclaimRound }) => reclaimRound === round),
          giveBack,
        )
      }
      await until(async () => {
        await look(600_000)
        const views = await inTurn(histories, viewOf)
        return views.every(
          ({ status, returns }) => ENDED.has(status) && returns.every((one) => one.status !== 'returning'),
        )
      })
      // Everything that is left goes back in the end, but dust. A turn carries out forty returns, each within the ten
      // minutes for which it is valid, and a seller's addresses have a thousand in a day.
      for (let days = 0, isDrained = false; days < 10 && !isDrained; days++) {
        await inTurn(histories, giveBack)
        while ((await openReturns()) > 0n) await look(30_000)
        await look(86_400_000)
        await look(60_000)
        const views = await inTurn(histories, viewOf)
        isDrained = views.every(({ left, returnMinimum }) => left < returnMinimum)
      }

      let paid = 0
      await inTurn(histories, async (one) => {
        const view = await viewOf(one)
        const [left, back] = await Promise.all([usdcOf(world.chain, one.address), usdcOf(world.chain, one.home)])
        const price = view.status === 'paid' ? PRICE : 0n
        if (view.status === 'paid') paid++
        expect({ ...one, left, back, all: left + back + price }).toEqual({ ...one, left, back, all: one.sent })
        expect(left).toBeLessThan(50_000n)
        expect([view.left, view.received].map((amount) => BigInt(Math.round(amount * 1e6)))).toEqual([left, one.sent])
      })
      expect(await usdcOf(world.chain, world.recipient)).toBe(before + BigInt(paid) * PRICE)
      const sales = await world.service.database.statements.run<{
        state: string
        reason: string | null
        sales: bigint
      }>(
        `SELECT state::text AS state, reason, count(*) AS sales FROM sale WHERE subject = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
        [checkout.id],
      )
      expect(sales).toEqual([{ state: 'paid', reason: null, sales: BigInt(paid) }])
      console.log(`${String(HISTORIES)} histories: ${String(paid)} paid`)
    },
    120_000 + HISTORIES * 1_000,
  )
})

/** Sixteen at once. */
async function inTurn<One, Result>(all: readonly One[], work: (one: One) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < all.length; at += 16) results.push(...(await Promise.all(all.slice(at, at + 16).map(work))))
  return results
}

const ENDED = new Set(['paid', 'expired', 'failed'])

describe('the next step of a payment address', () => {
  const now = new Date('2026-12-01T12:00:00Z')
  const place = fc.record({
    state: fc.constantFrom<PaymentAddress['state']>('open', 'paying', 'paid', 'closed'),
    amount: fc.bigInt(1n, 5n * PRICE).map(usdc),
    expiresIn: fc.integer({ min: -100_000_000, max: 100_000_000 }),
    lookedAgo: fc.integer({ min: 0, max: 100_000_000 }),
  })
  const attempt = fc.option(
    fc.record<Attempt>({
      sale: fc.constantFrom<Attempt['sale']>('none', 'open', 'paid', 'failed'),
      reason: fc.option(fc.constantFrom('rpc_unavailable', 'checkout_not_found')),
      isFinal: fc.boolean(),
      isOver: fc.boolean(),
    }),
  )
  const money = fc.bigInt(0n, 10n * PRICE).map(usdc)

  it('signs only for available money, and never while an earlier signature could still be used', () => {
    fc.assert(
      fc.property(place, money, attempt, ({ state, amount, expiresIn, lookedAgo }, balance, tried) => {
        const of = {
          ...{
            state,
            amount,
            expiresAt: new Date(now.getTime() + expiresIn),
            lookedAt: new Date(now.getTime() - lookedAgo),
          },
        } as PaymentAddress
        const decision = decide(of, { balance, attempt: tried, now })
        if (decision.do === 'pay') {
          expect(state).toBe('open')
          expect(balance).toBeGreaterThanOrEqual(amount)
        }
        if (decision.do === 'reopen' || (state === 'paying' && decision.do === 'close')) {
          expect(tried).toMatchObject({ isOver: true })
          expect(['none', 'failed']).toContain(tried!.sale)
        }
        if (decision.do === 'reopen') expect(tried!.isFinal).toBe(false)
        if (decision.do === 'paid') expect(tried!.sale).toBe('paid')
        if (state === 'paid' || state === 'closed') expect(decision.do).toBe('wait')
      }),
      { numRuns: 1_000 },
    )
  })

  it('ends an order that cannot be sold with its first authorization, and not after a refusal that passes', () => {
    const expiresAt = new Date(now.getTime() + 86_000_000)
    const of = { state: 'paying', amount: usdc(PRICE), expiresAt, lookedAt: now } as PaymentAddress
    const next = (reason: string, isOver: boolean) => {
      const refused = { sale: 'none', reason, isFinal: isFinalRefusal(reason), isOver } as const
      return decide(of, { balance: usdc(PRICE), attempt: refused, now })
    }
    for (const reason of ['checkout_not_found', 'quote_expired', 'coupon_used_up', 'invalid_input', 'test_mode']) {
      expect(next(reason, false)).toEqual({ do: 'wait' })
      expect(next(reason, true)).toEqual({ do: 'close', reason })
    }
    for (const reason of ['workflow_unavailable', 'payments_unavailable', 'payment_refused', 'purchases_open']) {
      expect(next(reason, true)).toEqual({ do: 'reopen', reason })
    }
  })

  it('returns confirmed money only, and nothing while the order is being paid', () => {
    fc.assert(
      fc.property(place, money, money, fc.boolean(), ({ state }, balance, deepBalance, isPaidDeep) => {
        const amount = returnable({ state }, { balance, deepBalance, isPaidDeep })
        expect(amount <= balance && amount <= deepBalance).toBe(true)
        expect(amount === 0n || amount >= 50_000n).toBe(true)
        if (state === 'paying' || (state === 'paid' && !isPaidDeep)) expect(amount).toBe(0n)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is due later while the address can change, and until its order is deleted or thirty days after its end', () => {
    const ended = fc.constantFrom(
      { state: 'paid', attempt: 1, days: 30 } as const,
      { state: 'closed', attempt: 1, days: 30 } as const,
      { state: 'closed', attempt: 0, days: 91 } as const,
    )
    fc.assert(
      fc.property(fc.option(ended), fc.integer({ min: 0, max: 100 * 86_400_000 }), (end, ageMs) => {
        const since = new Date(now.getTime() - ageMs)
        const { state, attempt } = end ?? { state: 'open', attempt: 0 }
        const of = { state, attempt, createdAt: since, endedAt: end === null ? null : since } as PaymentAddress
        const next = nextLook(of, now)
        const isDue = end === null || ageMs < end.days * 86_400_000
        if (isDue) expect(next!.getTime()).toBeGreaterThan(now.getTime())
        else expect(next).toBeNull()
        // Money that comes late is seen before the row may be deleted.
        if (end?.days === 91) expect((next ?? now).getTime() - now.getTime()).toBeLessThanOrEqual(86_400_000)
      }),
      { numRuns: 1_000 },
    )
    expect(statusOf({ state: 'closed', balance: usdc(0n), reason: 'checkout_not_found' })).toBe('failed')
  })
})
