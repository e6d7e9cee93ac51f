import type { Verified } from '../../sales/ports.ts'
import type { RequestBody } from '../../x402/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { soldHere, type OwnDeps } from './deps.ts'

export async function verifyHere({ facilitator, listing }: OwnDeps, request: RequestBody): Promise<Verified> {
  const verification = await facilitator.verify(readRequest(request))
  const sold = soldHere(request)
  if (sold !== null) listing.verified(sold, verification.refusal)
  return verification
}
