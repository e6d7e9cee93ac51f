import type { Hex } from '../chain/model.ts'
import type { Spender } from '../budgets/model.ts'
import { networkOf, NETWORKS, type Network } from '../chain/networks.ts'
import { canonicalHash } from '../kit/hash.ts'
import { usdc, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Announcement } from '../queue/model.ts'
import { nonceOf } from '../transfers/model.ts'
import type { Offer } from '../x402/model.ts'
import type { PaidRequest, Payment, PaymentOrder } from './model.ts'

/** What decides whether an offer can be taken. */
interface Buyer {
  network: Network
  /** The address that would sign. */
  payer: string
  maxAmount: Usdc
  now: Date
  /** Whether the call goes over plain HTTP to another machine, for real money. */
  isExposed: boolean
  /** Whether the call may have a header of this name in addition to its own. */
  mayAdd(header: string): boolean
}

type Choice = { offer: Offer; amount: Usdc } | { priceTooHigh: Usdc } | { unfit: readonly string[] }

/**
 * The cheapest offer that is exactly what a payer of ours may sign: USDC itself, on the account's own network, to a
 * plain address, for at most what the caller allows. Nothing else is paid, however little it is.
 */
export function choose(offers: readonly Offer[], buyer: Buyer): Choice {
  const faults = offers.map((offer) => faultOf(offer, buyer))
  const fit = offers.filter((_, place) => faults[place] === null)
  const cheapest = fit.reduce<Offer | null>(
    (best, one) => (best === null || one.amount < best.amount ? one : best),
    null,
  )
  if (cheapest === null) return { unfit: [...new Set(faults.filter((fault) => fault !== null))] }
  const amount = usdc(cheapest.amount)
  return amount > buyer.maxAmount ? { priceTooHigh: amount } : { offer: cheapest, amount }
}

/**
 * When the authorization ends, in Unix seconds. The seller may take as long as it says, within bounds, because what it
 * does not use is locked until then. An offer that expires earlier ends it earlier.
 */
export function validBeforeOf({ timeoutSeconds, expires }: Offer, now: Date): bigint {
  const seconds = Math.min(Math.max(Math.ceil(timeoutSeconds), SECONDS_MIN), SECONDS_MAX)
  const latest = Math.floor(now.getTime() / 1_000) + seconds + FUNDING_SECONDS
  return BigInt(expires === null ? latest : Math.min(expires, latest))
}

/** The network of an account's money. */
export function networkFor({ environment }: Pick<Owner, 'environment'>): Network {
  return environment === 'production' ? NETWORKS.base : NETWORKS['base-sepolia']
}

/** What an agent wants to spend on, by its owner's rules. Null where no agent spends. */
export function spenderOf({ agentId, request }: PaymentOrder, onApproved: Announcement | null): Spender | null {
  if (agentId === null) return null
  const { origin, pathname, host } = new URL(request.url)
  return {
    agentId,
    kind: 'pay',
    target: `${origin}${pathname}`.slice(0, 2_000),
    domain: host,
    requestHash: requestHash(request),
    ...(onApproved === null ? {} : { onApproved }),
  }
}

/** Names the very request, and the most that it may cost: a person's approval holds for no other. */
export function requestHash({ url, method, headers, body, maxAmount }: PaidRequest): string {
  return canonicalHash([url, method, headers, body, maxAmount]).toString('hex')
}

function faultOf(offer: Offer, { network, payer, now, isExposed, mayAdd }: Buyer): string | null {
  if (offer.scheme !== 'exact') return 'scheme'
  const wanted = networkOf(offer.network)
  if (wanted?.name !== network.name) return 'network'
  if ((offer.version === 1 ? network.name : network.caip2) !== offer.network) return 'network'
  if (offer.asset.toLowerCase() !== network.usdc.address) return 'asset'
  if (!ADDRESS.test(offer.payTo) || ZERO_ADDRESS.test(offer.payTo) || offer.payTo.toLowerCase() === payer)
    return 'payTo'
  if (offer.amount <= 0n || offer.amount > AMOUNT_MAX) return 'amount'
  const { domain, expires } = offer
  if (domain !== null && (domain.name !== network.usdc.name || domain.version !== network.usdc.version)) return 'extra'
  if (expires !== null && expires < now.getTime() / 1_000 + SECONDS_MIN) return 'expires'
  if (offer.version !== 'mpp') return null
  // MPP forbids credentials over plain HTTP.
  if (isExposed) return 'http'
  return mayAdd(offer.header) ? null : 'header'
}

/** Follows from the payment's id alone: every attempt to fund it uses the same nonce, and USDC takes a nonce once. */
export function fundingNonce(id: string): Hex {
  return nonceOf('funding', id)
}

/** What stays with the payer when a payment ends without a transfer: what it set aside, and what has arrived for it. */
export function remainingOf({ state, amount, funding }: Payment, hasArrived: boolean): bigint {
  if (state === 'reserved') return 0n
  return amount - (hasArrived ? 0n : (funding?.amount ?? 0n))
}

/**
 * When a payment that was given back as expired is looked at again: twice in the first hour, then every six hours for
 * two days. Null after that.
 */
export function nextLook(endedAt: Date, now: Date): Date | null {
  const ageMs = now.getTime() - endedAt.getTime()
  if (ageMs >= CHECKED_MS) return null
  return new Date(now.getTime() + (ageMs < HOUR_MS ? HOUR_MS / 2 : 6 * HOUR_MS))
}

const HOUR_MS = 3_600_000
const CHECKED_MS = 48 * HOUR_MS

/** How long the treasury's transfer may take; a payment lives longer by as much. */
export const FUNDING_SECONDS = 60
/** A payment that is not signed by then is given back. */
export const UNSIGNED_MS = 60_000

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const ZERO_ADDRESS = /^0x0{40}$/
const AMOUNT_MAX = 9_007_199_254_000_000n
const SECONDS_MIN = 60
const SECONDS_MAX = 300
