import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Payment, StoredAnswer, Tier } from '../model.ts'
import type { Books, Hold } from '../ports.ts'
import { eventsOf, failureOf, HELD_MS } from '../rules/payment.ts'
import { nextTier, tierAt, tierOf } from '../rules/pricing.ts'

export interface PaymentEvent {
  event: string
  data: Readonly<Record<string, unknown>>
}

export interface MemoryBooks extends Books {
  /** What was paid here since the start. */
  readonly revenue: Usdc
}

/**
 * Books that end with the process: balances, tiers and which payments were used are gone after a restart, and no two
 * processes share them. A used authorization stays used on the chain; a balance that was paid in is lost. Whoever sells
 * prepaid calls in earnest keeps `Books` in a database of their own.
 */
export function memoryBooks({ onEvent, milestones = [], now = () => new Date() }: MemorySetting = {}): MemoryBooks {
  const payments = new Map<string, Payment>()
  const digests = new Map<string, string>()
  const answers = new Map<string, StoredAnswer>()
  const balances = new Map<string, Balance>()
  const tokens = new Map<string, { place: string; payer: Payment['payer'] }>()
  const holds = new Map<string, { place: string; amount: Usdc; minimum: Usdc; until: Date }>()
  const places = new Map<string, Place>()
  const tiersOf = new Map<string, readonly Tier[]>()
  const customers = new Map<string, number>()
  let revenue = ZERO
  let forgotten = 0

  function tell(events: readonly PaymentEvent[]): void {
    for (const event of events) onEvent?.(event)
  }

  function existing(id: string): Payment {
    const payment = payments.get(id)
    if (payment === undefined) throw new Error('a payment vanished')
    return payment
  }

  function change(id: string, part: Partial<Payment>): Payment {
    const changed = { ...existing(id), ...part }
    payments.set(id, changed)
    return changed
  }

  /** Its place in the window is its own until it is released. */
  function takePlace({ paywallId, route, payer, windowStart, amount }: Payment, tiers: readonly Tier[]): number | null {
    const key = JSON.stringify([paywallId, route, payer])
    const start = windowStart?.getTime() ?? 0
    const known = places.get(key)
    const place = known?.start === start ? known : { start, taken: 0, paid: 0, tier: known?.tier ?? 0 }
    const tier = nextTier(tiers, place)
    if (tierOf(tiers, tier).amount !== amount) return tier
    places.set(key, { ...place, taken: place.taken + 1 })
    return null
  }

  function freePlace({ paywallId, route, payer, windowStart }: Payment): void {
    const place = places.get(JSON.stringify([paywallId, route, payer]))
    if (windowStart !== null && place?.start === windowStart.getTime())
      place.taken = Math.max(place.taken - 1, place.paid)
  }

  function moved({ paywallId, route, payer, windowStart }: Payment): { from: number; to: number } | null {
    const place = places.get(JSON.stringify([paywallId, route, payer]))
    const tiers = tiersOf.get(JSON.stringify([paywallId, route]))
    if (windowStart === null || place?.start !== windowStart.getTime() || tiers === undefined) return null
    place.paid += 1
    place.taken = Math.max(place.taken, place.paid)
    const to = tierAt(tiers, place.paid)
    const from = place.tier
    place.tier = to
    return from === to ? null : { from, to }
  }

  function balanceAt(place: string): Balance {
    const balance = balances.get(place) ?? { available: ZERO, held: ZERO }
    balances.set(place, balance)
    return balance
  }

  function holdAt(
    place: string,
    { call, amount, minimum, until }: Pick<Hold, 'call' | 'amount' | 'minimum' | 'until'>,
  ) {
    const balance = balanceAt(place)
    balance.available = usdc(balance.available - amount)
    balance.held = usdc(balance.held + amount)
    holds.set(call, { place, amount, minimum, until })
  }

  function draw(call: string, cost: Usdc): Usdc {
    const hold = holds.get(call)
    if (hold === undefined) return ZERO
    holds.delete(call)
    const balance = balanceAt(hold.place)
    const taken = cost < hold.amount ? cost : hold.amount
    balance.held = usdc(balance.held - hold.amount)
    balance.available = usdc(balance.available + hold.amount - taken)
    return balance.available
  }

  function credit(payment: Payment, hold: Hold | null): void {
    const { paywallId, network, payer, amount, cost, tokenHash } = payment
    const place = placeOf(paywallId, network, payer)
    const balance = balanceAt(place)
    balance.available = usdc(balance.available + amount - (cost ?? 0n))
    const token = tokenHash?.toString('hex')
    // A token that is known stays with whose it is.
    if (token !== undefined && !tokens.has(token)) tokens.set(token, { place, payer })
    if (cost === null && hold !== null) {
      holdAt(place, { ...hold, amount: hold.amount < balance.available ? hold.amount : balance.available })
    }
  }

  /** What nobody asks for any more; run as others come, for there is no other time. */
  function forget(): void {
    const at = now().getTime()
    if (at < forgotten + FORGET_MS) return
    forgotten = at
    for (const [call, { until, minimum }] of holds) if (until.getTime() <= at) draw(call, minimum)
    for (const [id, payment] of payments) {
      const ended = payment.endedAt?.getTime() ?? Infinity
      if (ended + HELD_MS < at) answers.delete(id)
      // An authorization that has expired is refused without remembering it.
      if (ended + HELD_MS < at && payment.expiresAt.getTime() + HELD_MS < at) {
        payments.delete(id)
        if (payment.digest !== null) digests.delete(payment.digest)
      }
    }
  }

  return {
    get revenue() {
      return revenue
    },

    async find(digest) {
      return payments.get(digests.get(digest) ?? '') ?? null
    },
    async findById(id) {
      return payments.get(id) ?? null
    },

    async begin(payment, tiers) {
      forget()
      const { digest, id } = payment
      if (digest === null) throw new Error('a payment without an authorization is simulated')
      const bought = digests.get(digest)
      if (bought !== undefined) return { begun: false, bought }
      if (tiers !== null) {
        tiersOf.set(JSON.stringify([payment.paywallId, payment.route]), tiers)
        const other = takePlace(payment, tiers)
        if (other !== null) return { begun: false, tier: other }
      }
      digests.set(digest, id)
      payments.set(id, payment)
      return { begun: true }
    },

    async take({ id, windowStart }, tiers, until) {
      const known = payments.get(id)
      if (known === undefined || (known.leaseUntil !== null && known.leaseUntil > now())) return null
      if (known.state === 'failed' || (known.state === 'paid' && known.delivery !== 'none')) return null
      if (known.state !== 'released') return change(id, { leaseUntil: until })
      if (tiers !== null && takePlace({ ...known, windowStart }, tiers) !== null) return null
      return change(id, { state: 'calling', windowStart, leaseUntil: until })
    },

    async leave(id) {
      if (payments.has(id)) change(id, { leaseUntil: null })
    },
    async release(id) {
      const known = existing(id)
      if (known.state !== 'calling') return
      freePlace(known)
      change(id, { state: 'released', leaseUntil: null })
    },

    async bind(id, bodyHash) {
      const known = existing(id).bodyHash
      if (known === null) change(id, { bodyHash })
      return known === null || known.equals(bodyHash)
    },

    async settling(id, { answer, bodyHash, cost }) {
      if (existing(id).state !== 'calling') throw new Error('a payment was taken over while its upstream answered')
      change(id, { state: 'settling', bodyHash: existing(id).bodyHash ?? bodyHash, cost })
      if (answer !== null) answers.set(id, answer)
    },

    async paid(id, txHash, { delivery, hold }) {
      const known = existing(id)
      if (known.state === 'paid' || known.state === 'failed') return known
      const payment = change(id, { state: 'paid', txHash, delivery, endedAt: now() })
      const before = revenue
      revenue = usdc(revenue + payment.amount)
      const customer = JSON.stringify([payment.paywallId, payment.payer])
      const customerPayments = (customers.get(customer) ?? 0) + 1
      customers.set(customer, customerPayments)
      if (payment.kind === 'balance') credit(payment, hold)
      const facts = { payment, customerPayments, revenueBefore: before, revenue, milestones, tier: moved(payment) }
      tell(eventsOf(facts, now()))
      return payment
    },

    async failed(id, reason) {
      const known = existing(id)
      if (known.state === 'paid' || known.state === 'failed') return known
      freePlace(known)
      answers.delete(id)
      const payment = change(id, { state: 'failed', reason, endedAt: now(), leaseUntil: null })
      tell([failureOf(payment, now())])
      return payment
    },

    simulated: () => Promise.reject(new Error('the middleware has no test mode')),
    async keep(id, answer, bodyHash) {
      const { state, delivery } = existing(id)
      if (state !== 'paid' || delivery !== 'none') return
      change(id, { bodyHash: existing(id).bodyHash ?? bodyHash })
      answers.set(id, answer)
    },
    async answerOf(id) {
      return answers.get(id) ?? null
    },
    async begun(id) {
      if (existing(id).state === 'paid') change(id, { delivery: 'begun' })
    },
    async delivered(id) {
      answers.delete(id)
      if (existing(id).state === 'paid') change(id, { delivery: 'whole', leaseUntil: null })
    },

    async hold(hold) {
      forget()
      const token = 'token' in hold.by ? tokens.get(hold.by.token.toString('hex')) : undefined
      const payer = 'payer' in hold.by ? hold.by.payer : token?.payer
      if (payer === undefined) return { held: false, balance: null }
      const place = placeOf(hold.paywallId, hold.network, payer)
      const { available } = balanceAt(place)
      if (available < hold.amount || (token !== undefined && token.place !== place)) {
        return { held: false, balance: available, payer }
      }
      holdAt(place, hold)
      return { held: true, payer, left: usdc(available - hold.amount) }
    },
    async draw(call, cost) {
      return draw(call, cost)
    },
    async left(paywall, network, payer) {
      return balances.get(placeOf(paywall, network, payer))?.available ?? ZERO
    },

    async prove(digest, buys) {
      const bought = digests.get(digest)
      if (bought === undefined) digests.set(digest, buys)
      return bought === undefined || bought === buys
    },

    async tier(paywall, route, payer, tiers, windowStart) {
      const place = places.get(JSON.stringify([paywall, route, payer]))
      return nextTier(tiers, place?.start === windowStart.getTime() ? place : { paid: 0, taken: 0 })
    },
  }
}

export interface MemorySetting {
  onEvent?: ((event: PaymentEvent) => void) | undefined
  milestones?: readonly Usdc[]
  now?: () => Date
}

const FORGET_MS = 10_000

interface Balance {
  available: Usdc
  held: Usdc
}

interface Place {
  start: number
  taken: number
  paid: number
  tier: number
}

function placeOf(paywall: string, network: string, payer: string): string {
  return JSON.stringify([paywall, network, payer])
}
