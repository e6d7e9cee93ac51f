import { ZERO_ADDRESS } from '../../kit/address.ts'
import { NETWORKS } from '../../chain/networks.ts'
import { toWire } from '../../kit/money.ts'
import { type Offer } from '../model.ts'
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
