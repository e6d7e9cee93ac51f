import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import { identifierUsed } from '../../sales/errors.ts'
import { claimedSale, type Sale, type StoredAnswer } from '../../sales/model.ts'
import { OWED_AWAY_MS, owedUntil } from '../../sales/service/settle.ts'
import { readRequest } from '../../x402/payload.ts'
import type { Hold } from '../ports.ts'
import type { PaymentJournal } from '../service/deps.ts'
import { eventsOf, failureOf, HELD_MS, passIn, paymentOf } from '../rules/payment.ts'
import { memoryBalances } from './memory-balances.ts'
import { memoryPasses } from './memory-passes.ts'
import { memoryPlaces, type MemoryPlaces } from './memory-places.ts'

export interface PaymentEvent {
  event: string
  data: Readonly<Record<string, unknown>>
}

export type MemoryBooks = PaymentJournal & {
  /** Revenue since the process started. */
  readonly revenue: Usdc
}

/**
 * A PaymentJournal that ends with the process: balances, tiers and used payments are gone after a restart, and two
 * processes do not share them. A used authorization stays used on the chain, but a prepaid balance is lost. To sell
 * prepaid calls in production, keep the journal in a database.
 */
export function memoryBooks({ onEvent, milestones = [], now = () => new Date() }: MemorySetting = {}): MemoryBooks {
  const memory = memorySales()
  const { sales, digests, identifiers, existing, change, answers } = memory
  const balances = memoryBalances()
  const places = memoryPlaces()
  const passes = memoryPasses(now)
  const claims = claimsIn(memory, { places, forget, now })
  const customers = new Map<string, number>()
  let revenue = ZERO
  let forgotten = 0

  function tell(events: readonly PaymentEvent[]): void {
    for (const event of events) onEvent?.(event)
  }

  /** Drops what is no longer needed. It runs with each new claim or hold, because there is no timer. */
  function forget(): void {
    const at = now().getTime()
    if (at < forgotten + FORGET_MS) return
    forgotten = at
    balances.drawExpired(at)
    for (const sale of sales.values()) if (isLost(sale, at)) void claims.release(sale, INTERRUPTED)
    memory.drop(at)
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
    async findByIdentifier(payer, identifier) {
      return sales.get(identifiers.get(`${payer} ${identifier}`) ?? '') ?? null
    },

    ...claims,

    async paid(id, txHash, { handover, note, away = false }) {
      const known = existing(id)
      if (known.state === 'paid' || known.state === 'failed') return known
      const owed = away ? new Date(now().getTime() + OWED_AWAY_MS) : null
      const sale = change(id, { state: 'paid', txHash, handover, endedAt: now(), owedUntil: owed })
      const payment = paymentOf(sale)
      const before = revenue
      revenue = usdc(revenue + payment.amount)
      const customer = JSON.stringify([payment.paywallId, payment.payer])
      const customerPayments = (customers.get(customer) ?? 0) + 1
      customers.set(customer, customerPayments)
      const path = passIn(sale)
      if (path !== null) passes.add({ ...payment, path })
      if (payment.kind === 'balance') balances.credit(sale, note as Hold | null)
      const facts = {
        payment,
        customerPayments,
        revenueBefore: before,
        revenue,
        milestones,
        tier: places.moved(payment),
      }
      tell(eventsOf(facts, now()))
      return sale
    },

    /** A gate's money never waits in the escrow. */
    authorized: (id) => Promise.resolve(existing(id)),

    async failed(id, reason) {
      const known = existing(id)
      if (known.state === 'paid' || known.state === 'failed') return known
      places.free(paymentOf(known))
      answers.delete(id)
      const sale = change(id, { state: 'failed', reason, endedAt: now(), leaseUntil: null })
      tell([failureOf(paymentOf(sale), now())])
      return sale
    },

    /** A gate's work is never done elsewhere. */
    unpaid: () => Promise.resolve(),

    simulated: () => Promise.reject(new Error('the middleware has no test mode')),
    /** A gate sells nothing for nothing. */
    giveBack: () => Promise.resolve(null),
    ...answersIn(memory),

    async hold(hold) {
      forget()
      return balances.hold(hold)
    },
    async draw(call, cost) {
      return balances.draw(call, cost)
    },
    signIn: passes.signIn,
    async left(paywall, network, payer) {
      return balances.left(paywall, network, payer)
    },

    prove: memory.prove,

    // oxlint-disable-next-line max-params -- part of the published package
    async tier(paywallId, route, payer, tiers, windowStart, network) {
      return places.tier({ paywallId, route, payer, windowStart, network }, tiers)
    },
  }
}

type MemorySales = ReturnType<typeof memorySales>

function memorySales() {
  const sales = new Map<string, Sale>()
  const digests = new Map<string, string>()
  /** By payer and identifier. */
  const identifiers = new Map<string, string>()
  const answers = new Map<string, StoredAnswer>()
  /** When each authorization expires that has proved an identity. */
  const proofs = new Map<string, number>()

  function existing(id: string): Sale {
    const sale = sales.get(id)
    if (sale === undefined) throw new Error('a sale was not found')
    return sale
  }

  function change(id: string, part: Partial<Sale>): Sale {
    const changed = { ...existing(id), ...part }
    sales.set(id, changed)
    return changed
  }

  /** Nothing was charged for a released sale, and an expired authorization is refused anyway: neither need be stored. */
  function drop(at: number): void {
    for (const [id, sale] of sales) {
      const isPast = sale.endedAt !== null && owedUntil(sale, HELD_MS, new Date(at)).getTime() < at
      if (isPast && answers.delete(id) && sale.handover === 'none') change(id, { handover: 'expired' })
      const isReleased = sale.state === 'released' && sale.createdAt.getTime() + HELD_MS < at
      if (isReleased || (isPast && expiryOf(sale) + HELD_MS < at)) {
        sales.delete(id)
        if (sale.digest !== null) digests.delete(sale.digest)
        if (sale.identifier !== null) identifiers.delete(`${sale.payer} ${sale.identifier}`)
      }
    }
    for (const [digest, expiry] of proofs) if (expiry + HELD_MS < at && proofs.delete(digest)) digests.delete(digest)
  }

  async function prove(digest: string, buys: string, validBefore: bigint): Promise<boolean> {
    const bought = digests.get(digest)
    if (bought === undefined) {
      digests.set(digest, buys)
      proofs.set(digest, millisecondsOf(validBefore))
    }
    return bought === undefined || bought === buys
  }

  return { sales, digests, identifiers, answers, existing, change, drop, prove }
}

type Claims = Pick<PaymentJournal, 'begin' | 'take' | 'leave' | 'release' | 'bind' | 'settling'>

/** The journal's operations up to the moment when the money moves. */
function claimsIn(
  { sales, digests, identifiers, answers, existing, change }: MemorySales,
  { places, forget, now }: { places: MemoryPlaces; forget(): void; now(): Date },
): Claims {
  return {
    async begin(said, { note }) {
      forget()
      const { digest, id } = said
      if (digest === null) throw new Error('a sale without an authorization is simulated')
      const bought = digests.get(digest)
      if (bought !== undefined) return bought
      const sale = claimedSale(said)
      const identifier = said.identifier === null ? null : `${said.payer} ${said.identifier}`
      const first = identifier === null ? undefined : sales.get(identifiers.get(identifier) ?? '')
      if (first !== undefined) throw identifierUsed(first)
      places.claim(sale, note)
      if (identifier !== null) identifiers.set(identifier, id)
      digests.set(digest, id)
      sales.set(id, sale)
      return id
    },

    async take({ id, details }, until, note) {
      const known = sales.get(id)
      if (known === undefined || (known.leaseUntil !== null && known.leaseUntil > now())) return null
      if (known.state === 'failed' || (known.state === 'paid' && known.handover !== 'none')) return null
      if (known.state !== 'released') return change(id, { leaseUntil: until })
      places.claim({ ...known, details }, note)
      return change(id, { state: 'claimed', details, reason: null, leaseUntil: until })
    },

    async leave({ id, leaseUntil }) {
      if (sales.get(id)?.leaseUntil?.getTime() === leaseUntil?.getTime()) change(id, { leaseUntil: null })
    },
    async release({ id, leaseUntil }, reason) {
      const known = sales.get(id)
      if (known?.state !== 'claimed' || known.leaseUntil?.getTime() !== leaseUntil?.getTime()) return
      places.free(paymentOf(known))
      change(id, { state: 'released', reason, leaseUntil: null })
    },

    async bind(id, bodyHash) {
      const known = existing(id).bodyHash
      if (known === null) change(id, { bodyHash })
      return known === null || known.equals(bodyHash)
    },

    async settling({ id }, { answer, bodyHash, details, amount }, until) {
      const known = sales.get(id)
      if (known === undefined || !(known.state === 'claimed' || isInterrupted(known))) return false
      // A handler that takes long is given up while others buy, but the payer still owes what it has made.
      if (isInterrupted(known)) places.takeAgain(paymentOf(known))
      const used = { details: details ?? known.details, amount: amount ?? known.amount }
      const said = { bodyHash: known.bodyHash ?? bodyHash, ...used }
      change(id, { state: 'settling', reason: null, leaseUntil: until, ...said })
      if (answer !== null) answers.set(id, answer)
      return true
    },
  }
}

type Answers = Pick<PaymentJournal, 'store' | 'answerOf' | 'begun' | 'handedOver'>

function answersIn({ answers, existing, change }: MemorySales): Answers {
  return {
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
  }
}

export interface MemorySetting {
  onEvent?: ((event: PaymentEvent) => void) | undefined
  milestones?: readonly Usdc[]
  now?: () => Date
}

/** Its work has stopped, and no money has moved. Its payer may send the same payment again. */
function isLost({ state, leaseUntil }: Sale, at: number): boolean {
  return state === 'claimed' && (leaseUntil?.getTime() ?? 0) <= at
}

function isInterrupted({ state, reason }: Sale): boolean {
  return state === 'released' && reason === INTERRUPTED
}

export const INTERRUPTED = 'interrupted'
const FORGET_MS = 10_000

/** When the authorization expires. */
function expiryOf({ request }: Sale): number {
  return millisecondsOf(request === null ? 0n : (readRequest(request).authorization?.validBefore ?? 0n))
}

function millisecondsOf(validBefore: bigint): number {
  return Number(validBefore < LAST_SECOND ? validBefore : LAST_SECOND) * 1000
}

const LAST_SECOND = 253_402_300_799n
