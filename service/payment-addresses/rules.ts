import type { Address, Authorization, Hex } from '../chain/model.ts'
import { blocksIn } from '../chain/networks.ts'
import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import { largest, least, usdc, ZERO, type Usdc } from '../kit/money.ts'
import { nonceOf } from '../transfers/model.ts'
import type { AddressReturn, PaymentAddress, UnsearchedAddress } from './model.ts'

/** What is known of the authorization that pays the order, once it was signed. */
export interface Attempt {
  /** The payment that was made with it. `none`: it was refused, and nothing was made of it. */
  sale: 'none' | 'open' | 'paid' | 'failed'
  /** Why it was refused or has failed. */
  reason: string | null
  /** The same order is refused each time, so no other authorization is signed for it. */
  isFinal: boolean
  /** The chain refuses it for good, in a block that no reorganisation takes back, and has not taken it before. */
  isOver: boolean
}

export type Decision =
  | { do: 'wait' }
  /** Signs an authorization of the order's price. */
  | { do: 'pay' }
  | { do: 'paid' }
  /** Its authorization is over, so another one may be signed. */
  | { do: 'reopen'; reason: string | null }
  | { do: 'close'; reason: string }

/** What comes next for an address that has not ended. `balance` is what it has now. */
export function decide(of: PaymentAddress, seen: { balance: Usdc; attempt: Attempt | null; now: Date }): Decision {
  const { balance, attempt, now } = seen
  if (of.state === 'open') {
    // Money that came while no worker looked was in time.
    const isInTime = now < of.expiresAt || of.lookedAt < of.expiresAt
    if (balance >= of.amount && isInTime) return { do: 'pay' }
    return now < of.expiresAt ? { do: 'wait' } : { do: 'close', reason: EXPIRED }
  }
  if (of.state !== 'paying' || attempt === null) return { do: 'wait' }
  if (attempt.sale === 'paid') return { do: 'paid' }
  // While its authorization could still be used, neither another one is signed nor anything returned.
  if (attempt.sale === 'open' || !attempt.isOver) return { do: 'wait' }
  if (attempt.sale === 'failed') return { do: 'close', reason: attempt.reason ?? 'payment_failed' }
  return now < of.expiresAt && !attempt.isFinal
    ? { do: 'reopen', reason: attempt.reason }
    : { do: 'close', reason: attempt.reason ?? EXPIRED }
}

const EXPIRED = 'expired'

/** Whether this refusal ends an order. Others pass: its workflow is away, or an RPC does not answer. */
export function isFinalRefusal(code: string | null): boolean {
  return code !== null && FINAL.has(code)
}

/** The checkout has ended or sells otherwise now; what was chosen, uploaded or quoted is not sold any more. */
const FINAL: ReadonlySet<string> = new Set<ErrorCode>([
  'checkout_not_found',
  'invalid_input',
  'quote_mismatch',
  'quote_expired',
  'coupon_invalid',
  'coupon_used_up',
  'test_mode',
  'transfers_unavailable',
])

/**
 * What can be returned: what the address has now and had in a block that no reorganisation takes back. Of a paid order
 * nothing goes back before its payment is as deep, or a reorganisation could take the order's money away.
 */
export function returnable(
  { state }: Pick<PaymentAddress, 'state'>,
  seen: { balance: Usdc; deepBalance: Usdc; isPaidDeep: boolean },
): Usdc {
  if (state === 'paying' || (state === 'paid' && !seen.isPaidDeep)) return ZERO
  const amount = seen.balance < seen.deepBalance ? seen.balance : seen.deepBalance
  return amount < RETURN.minimum ? ZERO : amount
}

export const RETURN = {
  /** The server pays the gas of a return, so dust stays. */
  minimum: usdc(50_000n),
  /** The most settled returns of one address. */
  most: 5,
  /** In a day, those of one address that were asked for, and those of all of a seller's that have not failed. */
  mostTries: 10,
  mostOfSeller: 1_000,
  validSeconds: 600,
} as const

/** How long the money has to arrive. Exchanges hold back withdrawals for hours. */
const WAIT_MS = 86_400_000
/** An order that ends before is none to send money to. */
const WAIT_MS_LEAST = 3_600_000
/** Money that arrives in time is seen and paid with before its order ends: at the latest an open address is read after a minute. */
const SEEN_MS = 300_000

/**
 * What the terms of an order are asked for with: how long its price is promised, and when it may end at the earliest. The
 * price outlasts the wait, so that money is not refused that came while no worker looked.
 */
export function arrivalTimes(now: Date): { until: Date; earliest: Date } {
  return { until: new Date(now.getTime() + 2 * WAIT_MS), earliest: new Date(now.getTime() + WAIT_MS_LEAST) }
}

/** Until when the money has to arrive, where the order ends by itself at that time or never. */
export function arrivalEnd(now: Date, endsAt: Date | null): Date {
  const end = endsAt === null ? Infinity : endsAt.getTime() - SEEN_MS
  return new Date(Math.min(now.getTime() + WAIT_MS, end))
}

/** Of one seller at a time; beyond it those without money make room after this time. */
export const OPEN_MAX = 2_000
export const ROOM_AFTER_MS = 1_800_000

/** When the balance is read next: often while a buyer looks at the page, and rarely long after it has ended. */
export function nextLook({ createdAt, endedAt, state, attempt }: PaymentAddress, now: Date): Date | null {
  const ageMs = now.getTime() - (endedAt ?? createdAt).getTime()
  const isRemoved = state === 'closed' && attempt === 0
  const pauses = endedAt === null ? PAUSES_OPEN : isRemoved ? PAUSES_REMOVED : PAUSES_ENDED
  const pause = state === 'paying' ? 2_000 : pauses.find(([until]) => ageMs < until)?.[1]
  return pause === undefined ? null : new Date(now.getTime() + pause)
}

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
/** Up to this age, this long a pause. */
const PAUSES_OPEN = [
  [10 * MINUTE, 2_000],
  [HOUR, 10_000],
  [Infinity, MINUTE],
] as const
const PAUSES_ENDED = [
  [HOUR, MINUTE],
  [DAY, 10 * MINUTE],
  [30 * DAY, 6 * HOUR],
] as const
/**
 * An order for which no money came is deleted after ninety days, so what comes late is seen until then: it keeps the
 * address. Every other one stays, and is read when its buyer looks.
 */
const PAUSES_REMOVED = [...PAUSES_ENDED, [91 * DAY, DAY]] as const

/** On request an ended address is read again, but not more often than this. */
export const REQUESTED_LOOK_MS = 10_000

export interface SendersSearch {
  from: bigint
  upTo: bigint
  places: readonly UnsearchedAddress[]
}

/**
 * The searches of the chain that find who sent money to these addresses, each of at most so many blocks. Those whose
 * transfers lie near each other are one search, and come first; one that reaches far back is searched by itself, in parts.
 */
export function searchesFor(places: readonly UnsearchedAddress[], width: bigint, now: Date): SendersSearch[] {
  const searches: (SendersSearch & { places: UnsearchedAddress[] })[] = []
  const placed = places.map((place) => ({ place, start: startOf(place, width, now) }))
  for (const { place, start } of placed.sort((one, other) => compare(one.start, other.start))) {
    const last = searches.at(-1)
    const joins = last !== undefined && place.searchTo - last.from < width && last.upTo - last.from < width - 1n
    if (joins) {
      last.places.push(place)
      last.upTo = largest(last.upTo, place.searchTo)
    } else {
      searches.push({ from: start, upTo: least(place.searchTo, start + width - 1n), places: [place] })
    }
  }
  return searches.sort((one, other) => other.places.length - one.places.length || compare(other.upTo, one.upTo))
}

function startOf({ fromBlock, searchTo, createdAt }: UnsearchedAddress, width: bigint, now: Date): bigint {
  const age = blocksIn(now.getTime() - createdAt.getTime())
  const first = least(fromBlock ?? searchTo - age, searchTo)
  return largest(0n, first - least(SEARCH.replaced, width / 2n), searchTo - SEARCH.back)
}

function compare(one: bigint, other: bigint): number {
  return Number(one - other)
}

/** In blocks. */
export const SEARCH = {
  /** RPCs allow very different numbers. */
  widest: 1_000n,
  narrowest: 8n,
  /** What came longer ago, while no worker looked, has no known sender. */
  back: 10_000n,
  /** A reorganisation may have put newer transfers into blocks that were read before. */
  replaced: 64n,
} as const

/** The authorization of one attempt: signed again it is the same. */
export function orderNonce({ id, attempt }: Pick<PaymentAddress, 'id' | 'attempt'>): Hex {
  return nonceOf('payment address', id, String(attempt))
}

export function returnOf(from: Address, { recipient, amount, nonce, validBefore }: AddressReturn): Authorization {
  return { from, to: recipient, value: amount, validAfter: 0n, validBefore, nonce }
}

export type AddressStatus = 'waiting' | 'partly_paid' | 'paying' | 'paid' | 'expired' | 'failed'

/** As its buyer sees it. */
export function statusOf({
  state,
  balance,
  reason,
}: Pick<PaymentAddress, 'state' | 'balance' | 'reason'>): AddressStatus {
  if (state === 'open') return balance > 0n ? 'partly_paid' : 'waiting'
  if (state === 'closed') return reason === EXPIRED || reason === CANCELED ? 'expired' : 'failed'
  return state
}

/** The buyer wants the money back before all of it has arrived. */
export const CANCELED = 'canceled'
