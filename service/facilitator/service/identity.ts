import type { Chain, Hex, SignedAuthorization } from '../../chain/model.ts'
import { Recent } from '../../kit/recent.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Uses } from '../ports.ts'
import type { FacilitatorDeps } from './deps.ts'

/**
 * Recovery is the most expensive step, so it runs once for each request, and once for the requests that verify and
 * settle the same authorization. The digest covers the payer, so nothing but the signature is compared. Only good ones
 * are remembered: there is one for each authorization, so a caller cannot fill the memory with bad ones.
 */
export function isSignedByPayer(
  { signatures }: Pick<FacilitatorDeps, 'signatures'>,
  identity: Identity,
  { from, signature }: SignedAuthorization,
): boolean {
  const { digest } = identity
  if (identity.signed !== undefined) return identity.signed
  if (GOOD.get(digest) === signature) return (identity.signed = true)
  identity.signed = signatures.recover(digest, signature) === from
  if (identity.signed) GOOD.put(digest, signature)
  return identity.signed
}

/** Digests with their payers' signatures: some megabytes at the most. */
const GOOD = new Recent<Hex, Hex>(10_000)

/** Identifies what was signed. Null when it is no authorization or permit on a known network. */
export function identify({ signatures }: Pick<FacilitatorDeps, 'signatures'>, signed: Signed): Identity | null {
  const { network, authorization, permit } = signed
  if (network === null || authorization === null) return null
  const known = IDENTITIES.get(authorization)
  if (known?.network === network.name) return known
  const digest = permit === null ? signatures.digest(network, authorization) : signatures.permitDigest(network, permit)
  const identity = { network: network.name, digest }
  IDENTITIES.set(authorization, identity)
  return identity
}

export type Signed = Pick<PaymentRequest, 'network' | 'authorization' | 'permit'>

export interface Identity {
  network: string
  digest: Hex
  /** Whether the payer's own key made the signature. Absent until the signer was recovered. */
  signed?: boolean
}

/** An authorization is decoded once for each request, although several steps read it. */
const IDENTITIES = new WeakMap<SignedAuthorization, Identity>()

/** How an authorization was used that the token itself takes (EIP-3009), from any sender. */
export function authorizationUses(chain: Chain, { from: payer, nonce }: SignedAuthorization): Uses {
  return {
    isSilent: false,
    isUsed: async () => (await chain.authorization(payer, nonce)).used,
    find: (block) => chain.findUse(payer, nonce, block),
    agreed: (search) => chain.agreedUse({ payer, nonce, ...search }),
  }
}
