import { ZERO_ADDRESS } from '../../kit/address.ts'
import { NETWORKS } from '../../chain/networks.ts'
import { toWire } from '../../kit/money.ts'
import type { Offer, Outcome } from '../model.ts'
import { headerIn } from '../rules/headers.ts'
import { requirementsOf } from '../rules/x402.ts'

/** A 402 in the form of a checkout without a form, so that the page uses the same wallet code. */
export function toGatePage(offer: Offer) {
  const { name, description, resource, mimeType, paywall, amount, testMode } = offer
  const network = NETWORKS[offer.network]
  const recipient = offer.recipient ?? ZERO_ADDRESS
  const price = { amount, recipient, network: offer.network }
  // The page pays the whole amount.
  const about = { url: resource, description: description ?? name, mimeType }
  const { v2 } = requirementsOf(price, about, { route: offer.route, taker: null })
  return {
    checkout: {
      id: paywall,
      url: resource,
      x402Url: resource,
      mcp: null,
      testMode,
      product: { name, description },
      price: toWire(amount),
      network: network.name,
      chainId: network.chainId,
      recipient: offer.recipient,
      asset: { address: network.usdc.checksummed, name: network.usdc.name, version: network.usdc.version, decimals: 6 },
      fields: [],
      redirectUrl: null,
      responseMode: 'immediately' as const,
      explorer: network.live ? 'https://basescan.org' : 'https://sepolia.basescan.org',
    },
    available: true,
    quote: { quoteId: '', expiresAt: offer.expiresAt.toISOString() },
    paymentRequirements: testMode ? null : { v2 },
  }
}

/** The header of the page's own requests. No client's header of this prefix reaches the upstream. */
export const OF_PAGE = 'coinslot-page'

/**
 * A redirect is what was bought. A script may not read it, and the page may not follow it to another origin, so the page gets
 * the address and shows it.
 */
export function shownOnPage(outcome: Outcome): Outcome {
  const { status, headers } = outcome
  const location = headerIn(headers, 'location')
  if (location === undefined || status < 300 || status >= 400) return outcome
  return { ...outcome, status: 200, headers: [...headers, ['Coinslot-Location', location]] }
}
