import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import { claimedSale, type Sale, type StoredAnswer } from '../../sales/model.ts'
import { readRequest } from '../../x402/payload.ts'
import type { Payment, Tier } from '../model.ts'
import type { Hold } from '../ports.ts'
import type { Books } from '../service/parts.ts'
import { eventsOf, failureOf, HELD_MS, paymentOf } from '../rules/payment.ts'
import { nextTier, tierAt, tierOf } from '../rules/pricing.ts'
import { AnotherTier } from '../service/product.ts'

export interface PaymentEvent {
  event: string
  data: Readonly<Record<string, unknown>>
}

export type MemoryBooks = Books & {
  /** What was paid here since the start. */
  readonly revenue: Usdc
}

/**
 * Books that end with the process: balances, tiers and which payments were used are gone after a restart, and no two
 * processes share them. A used authorization stays used on the chain; a balance that was paid in is lost. Whoever sells
 * prepaid calls in earnest keeps `Books` in a database of their own.
 */
export function memoryBooks({ onEvent, milestones = [], now = () => new Date() }: MemorySetting = {}): MemoryBooks {
  const sales = new Map<string, Sale>()
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

  function existing(id: string): Sale {
    const sale = sales.get(id)
    if (sale === undefined) throw new Error('a sale vanished')
    return sale
  }

  function change(id: string, part: Partial<Sale>): Sale {
    const changed = { ...existing(id), ...part }
    sales.set(id, changed)
    return changed
  }

  /** The same as in the gateway: in the claim, and again where one that was released is taken. */
  function claimed(sale: Sale, note: unknown): void {
    const tiers = note as readonly Tier[] | null
    if (tiers === null) return
    const payment = paymentOf(sale)
    tiersOf.set(JSON.stringify([payment.paywallId, payment.route]), tiers)
    takePlace(payment, tiers)
  }

  /** Its place in the window is its own until it is released. */
  function takePlace({ paywallId, route, payer, windowStart, amount }: Payment, tiers: readonly Tier[]): void {
    const key = JSON.stringify([paywallId, route, payer])
    const start = windowStart?.getTime() ?? 0
    const known = places.get(key)
    const place = known?.start === start ? known : { start, taken: 0, paid: 0, tier: known?.tier ?? 0 }
    const tier = nextTier(tiers, place)
    if (tierOf(tiers, tier).amount !== amount) throw new AnotherTier()
    places.set(key, { ...place, taken: place.taken + 1 })
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

  function credit(sale: Sale, hold: Hold | null): void {
    const { paywallId, network, payer, amount, cost } = paymentOf(sale)
    const place = placeOf(paywallId, network, payer)
    const balance = balanceAt(place)
    balance.available = usdc(balance.available + amount - (cost ?? 0n))
    const token = sale.tokenHash?.toString('hex')
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
    for (const [id, sale] of sales) {
      const ended = sale.endedAt?.getTime() ?? Infinity
      if (ended + HELD_MS < at && answers.delete(id) && sale.handover === 'none') change(id, { handover: 'expired' })
      // An authorization that has expired is refused without remembering it.
      if (ended + HELD_MS < at && expiryOf(sale) + HELD_MS < at) {
        sales.delete(id)
        if (sale.digest !== null) digests.delete(sale.digest)
      }
    }
  }

  return {
    get revenue() {
      return revenue
    },

    async find(digest) {
      return sales.get(digests.get(digest) ?? '') ?? null
    },
    async findById(id) {
      return sales.get(id) ?? null
    },

    async begin(said, { note }) {
      forget()
      const { digest, id } = said
      if (digest === null) throw new Error('a sale without an authorization is simulated')
      const bought = digests.get(digest)
      if (bought !== undefined) return bought
      const sale = claimedSale(said)
      claimed(sale, note)
      digests.set(digest, id)
      sales.set(id, sale)
      return id
    },

    async take({ id, details }, until, note) {
      const known = sales.get(id)
      if (known === undefined || (known.leaseUntil !== null && known.leaseUntil > now())) return null
      if (known.state === 'failed' || (known.state === 'paid' && known.handover !== 'none')) return null
      if (known.state !== 'released') return change(id, { leaseUntil: until })
      claimed({ ...known, details }, note)
      return change(id, { state: 'claimed', details, reason: null, leaseUntil: until })
    },

    async leave(id) {
      if (sales.has(id)) change(id, { leaseUntil: null })
    },
    async release(id, reason) {
      const known = existing(id)
      if (known.state !== 'claimed') return
      freePlace(paymentOf(known))
      change(id, { state: 'released', reason, leaseUntil: null })
    },

    async bind(id, bodyHash) {
      const known = existing(id).bodyHash
      if (known === null) change(id, { bodyHash })
      return known === null || known.equals(bodyHash)
    },

    async settling(id, { answer, bodyHash, details }, until) {
      const known = existing(id)
      if (known.state !== 'claimed') return false
      const said = { bodyHash: known.bodyHash ?? bodyHash, details: details ?? known.details }
      change(id, { state: 'settling', leaseUntil: until, ...said })
      if (answer !== null) answers.set(id, answer)
      return true
    },

    async paid(id, txHash, { handover, note }) {
      const known = existing(id)
      if (known.state === 'paid' || known.state === 'failed') return known
      const sale = change(id, { state: 'paid', txHash, handover, endedAt: now() })
      const payment = paymentOf(sale)
      const before = revenue
      revenue = usdc(revenue + payment.amount)
      const customer = JSON.stringify([payment.paywallId, payment.payer])
      const customerPayments = (customers.get(customer) ?? 0) + 1
      customers.set(customer, customerPayments)
      if (payment.kind === 'balance') credit(sale, note as Hold | null)
      const facts = { payment, customerPayments, revenueBefore: before, revenue, milestones, tier: moved(payment) }
      tell(eventsOf(facts, now()))
      return sale
    },

    async failed(id, reason) {
      const known = existing(id)
      if (known.state === 'paid' || known.state === 'failed') return known
      freePlace(paymentOf(known))
      answers.delete(id)
      const sale = change(id, { state: 'failed', reason, endedAt: now(), leaseUntil: null })
      tell([failureOf(paymentOf(sale), now())])
      return sale
    },

    simulated: () => Promise.reject(new Error('the middleware has no test mode')),
    async store(id, answer, bodyHash) {
      const { state, handover } = existing(id)
      if (state !== 'paid' || handover !== 'none' || answers.has(id)) return false
      change(id, { bodyHash: existing(id).bodyHash ?? bodyHash })
      answers.set(id, answer)
      return true
    },
    async answerOf(id) {
      return answers.get(id) ?? null
    },
    async begun(id) {
      if (existing(id).state === 'paid') change(id, { handover: 'begun' })
    },
    async handedOver(id) {
      answers.delete(id)
      if (existing(id).state === 'paid') change(id, { handover: 'whole', leaseUntil: null })
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

/** When the authorization can be used no more. */
function expiryOf({ request }: Sale): number {
  const validBefore = request === null ? 0n : (readRequest(request).authorization?.validBefore ?? 0n)
  return Number(validBefore < LAST_SECOND ? validBefore : LAST_SECOND) * 1000
}

const LAST_SECOND = 253_402_300_799n
