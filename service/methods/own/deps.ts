import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import { offeredIn, readRequest } from '../../x402/payload.ts'
import { bazaarOf, type Listing, type SoldResource } from '../../x402/bazaar.ts'
import type { RequestBody } from '../../x402/model.ts'

export interface OwnDeps {
  facilitator: Pick<
    Facilitator,
    'verify' | 'settle' | 'act' | 'leftInEscrow' | 'serves' | 'sponsors' | 'escrow' | 'purchases'
  >
  listing: Listing
}

/**
 * What is listed of our own product is what we offered, not what the buyer sent back. Null when the request was read from
 * the database, which has no offers: the next sale lists the product.
 */
export function soldHere(request: RequestBody): SoldResource | null {
  const offered = offeredIn(request)
  const bazaar = offered === null ? null : bazaarOf(offered.v1.outputSchema)
  if (offered === null || bazaar === null) return null
  const { resource: url, description, mimeType, maxTimeoutSeconds: timeoutSeconds } = offered.v1
  const { required, ...paid } = readRequest(request)
  // Our products take both versions, so every buyer is shown the newer one.
  const payment = { ...paid, version: 2 as const, required: { ...required, network: offered.v2.network } }
  const resource = { url, description, mimeType }
  return { isOurs: true, payment, timeoutSeconds, resource, extensions: { bazaar } }
}
