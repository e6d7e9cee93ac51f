import { networkOf, type Network } from '../../chain/networks.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import type { Offer } from '../../x402/model.ts'

export type Choice = { offer: Offer; amount: Usdc } | { tooDear: Usdc } | { unfit: readonly string[] }

/**
 * The cheapest offer that is exactly what a payer of ours may sign: USDC itself, on the account's own network, to a
 * plain address, for at most what the caller allows. Whatever else a seller asks for is not paid, however little it is.
 */
export function choose(offers: readonly Offer[], network: Network, payer: string, maxAmount: Usdc): Choice {
  const faults = offers.map((offer) => faultOf(offer, network, payer))
  const fit = offers.filter((_, place) => faults[place] === null)
  const cheapest = fit.reduce<Offer | null>(
    (best, one) => (best === null || one.amount < best.amount ? one : best),
    null,
  )
  if (cheapest === null) return { unfit: [...new Set(faults.filter((fault) => fault !== null))] }
  const amount = usdc(cheapest.amount)
  return amount > maxAmount ? { tooDear: amount } : { offer: cheapest, amount }
}

/** How long the seller may take; what it does not use is locked until then. */
export function secondsFor({ timeoutSeconds }: Offer): number {
  return Math.min(Math.max(Math.ceil(timeoutSeconds), SECONDS_MIN), SECONDS_MAX)
}

function faultOf(offer: Offer, network: Network, payer: string): string | null {
  if (offer.scheme !== 'exact') return 'scheme'
  const asked = networkOf(offer.network)
  if (asked?.name !== network.name) return 'network'
  if ((offer.version === 1 ? network.name : network.caip2) !== offer.network) return 'network'
  if (offer.asset.toLowerCase() !== network.usdc.address) return 'asset'
  if (!ADDRESS.test(offer.payTo) || NOBODY.test(offer.payTo) || offer.payTo.toLowerCase() === payer) return 'payTo'
  if (offer.amount <= 0n || offer.amount > AMOUNT_MAX) return 'amount'
  const { domain } = offer
  if (domain !== null && (domain.name !== network.usdc.name || domain.version !== network.usdc.version)) return 'extra'
  return null
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const NOBODY = /^0x0{40}$/
const AMOUNT_MAX = 9_007_199_254_000_000n
const SECONDS_MIN = 60
const SECONDS_MAX = 300
