import type { Address } from '../../chain/model.ts'
import { networkOf } from '../../chain/networks.ts'
import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import type { MethodName } from '../../sales/model.ts'
import type { Method, Verified } from '../../sales/ports.ts'
import { bazaarOf, type Listing, type OfferedResource, type SoldResource } from '../../x402/bazaar.ts'
import type { Presented, RequestBody, Requirements } from '../../x402/model.ts'
import { offeredIn, readRequest, type Offered } from '../../x402/payload.ts'
import type { AuthCapture } from '../auth-capture/scheme.ts'
import type { PermitOffer } from '../upto/scheme.ts'

/** New payments, which this service's own facilitator settles. */
export function offerHere(deps: OwnDeps): Method {
  const { facilitator, authCapture, permits, listing } = deps
  return {
    digestOf: (signed) => facilitator.purchases.digestOf(signed),
    digestBy: (network, payer, nonce) => facilitator.purchases.digestBy(network, payer, nonce),
    verify: (request) => verifyHere(deps, request),
    choose: (presented, requirements) => ({ method: nameOf(presented, requirements), facilitator: null }),
    serves: (network) => facilitator.serves(network),
    escrow: authCapture.offer,
    taker: permits.taker,
    async offered({ v1, v2, listed = v2.amount }) {
      const resource = resourceOf({ v1, v2, listed })
      if (resource !== null) await listing.changed(resource)
    },
    async withdrawn({ v1, v2, listed = v2.amount }) {
      const resource = resourceOf({ v1, v2, listed })
      if (resource !== null) await listing.withdrawn(resource)
    },
  }
}

function nameOf(
  { challenge, permit }: Pick<Presented, 'challenge' | 'permit'>,
  { escrow }: Pick<Requirements, 'escrow'>,
): MethodName {
  if (escrow !== undefined) return 'auth-capture'
  if (permit !== null) return 'upto'
  return challenge === null ? 'exact' : 'mpp-charge'
}

export interface OwnDeps {
  facilitator: Pick<Facilitator, 'verify' | 'settle' | 'carryOut' | 'serves' | 'purchases'>
  authCapture: Pick<AuthCapture, 'offer' | 'examineAction' | 'left' | 'capturedBy'>
  permits: PermitOffer
  listing: Listing
}

export async function verifyHere({ facilitator, listing }: OwnDeps, request: RequestBody): Promise<Verified> {
  const verification = await facilitator.verify(readRequest(request))
  const sold = soldHere(request)
  if (sold !== null) listing.verified(sold, verification.refusal)
  return verification
}

/**
 * What is listed of our own product is what we offer, not what the buyer sent back, nor what a code, a quantity or a part
 * payment made of the price. Null when the request was read from the database, which has no offers: the next sale lists the
 * product.
 */
export function soldHere(request: RequestBody): SoldResource | null {
  const offered = offeredIn(request)
  const resource = offered === null ? null : resourceOf(offered)
  return resource === null ? null : { ...resource, payment: { ...readRequest(request), ...resource.payment } }
}

function resourceOf({ v1, v2, listed }: Offered): OfferedResource | null {
  const bazaar = bazaarOf(v1.outputSchema)
  if (bazaar === null) return null
  const { resource: url, description, mimeType, maxTimeoutSeconds: timeoutSeconds } = v1
  // Our products take both versions, so every buyer is shown the newer one.
  const { scheme, network, payTo, asset, extra: domain } = v2
  const parties = { payTo: payTo.toLowerCase() as Address, asset: asset.toLowerCase() as Address }
  const required = { scheme, network, ...parties, amount: BigInt(listed), domain }
  const payment = { version: 2 as const, network: networkOf(network), required }
  return { isOurs: true, payment, timeoutSeconds, resource: { url, description, mimeType }, extensions: { bazaar } }
}
