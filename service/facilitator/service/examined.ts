import type { Chain, Hex, SignedAuthorization } from '../../chain/model.ts'
import type { Network } from '../../chain/networks.ts'
import { Recent } from '../../kit/recent.ts'
import type { EscrowOperation } from '../model.ts'
import type { EscrowPayment } from '../../x402/escrow.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import type { FacilitatorDeps } from './deps.ts'

/** A payment whose terms are right, or a seller's message to the escrow's operator. */
export interface Examined {
  payment: PaymentRequest
  chain: Chain
  network: Network
  authorization: SignedAuthorization
  digest: Hex
  /** The signer's own key made the signature. This decides nothing for a signer with code. */
  signed: boolean
  /** Null for a plain transfer. */
  escrow: ExaminedEscrow | null
}

/** `balance`: the payer's, where it decided. `seenBlock`: the block of the state that decided, where that matters. */
export type Simulated =
  | { refusal: Reason }
  | {
      refusal: null
      payerHasCode: boolean
      payerDecides: boolean
      gas: bigint
      balance: bigint | null
      seenBlock?: bigint
    }

/** What is known of a payment for the escrow whose terms are right. */
export interface ExaminedEscrow extends EscrowPayment {
  operation: EscrowOperation
  /** Our own sale asks for it, and no message was signed. */
  ours: boolean
  /** The request to void what a capture leaves. */
  rest: ExaminedMessage | null
}

export type ExaminedMessage = Examined & { escrow: ExaminedEscrow }

/**
 * Recovery is the most expensive step, so it runs once for each request, and once for the requests that verify and
 * settle the same authorization. The digest covers the payer, so nothing but the signature is compared. Only good ones
 * are remembered: there is one for each authorization, so a caller cannot fill the memory with bad ones.
 */
export function isSignedByPayer(deps: FacilitatorDeps, identity: Identity, { from, signature }: SignedAuthorization) {
  const { digest } = identity
  if (identity.signed !== undefined) return identity.signed
  if (GOOD.get(digest) === signature) return (identity.signed = true)
  identity.signed = deps.signatures.recover(digest, signature) === from
  if (identity.signed) GOOD.put(digest, signature)
  return identity.signed
}

/** Digests with their payers' signatures: some megabytes at the most. */
const GOOD = new Recent<Hex, Hex>(10_000)

/** Identifies the authorization. Null when it is not one of USDC on a known network. */
export function identify({ signatures }: Pick<FacilitatorDeps, 'signatures'>, signed: Signed): Identity | null {
  const { network, authorization } = signed
  if (network === null || authorization === null) return null
  const known = IDENTITIES.get(authorization)
  if (known?.network === network.name) return known
  const identity = { network: network.name, digest: signatures.digest(network, authorization) }
  IDENTITIES.set(authorization, identity)
  return identity
}

export type Signed = Pick<PaymentRequest, 'network' | 'authorization'>

export interface Identity {
  network: string
  digest: Hex
  /** Whether the payer's own key made the signature. Absent until the signer was recovered. */
  signed?: boolean
}

/** An authorization is decoded once for each request, although several steps read it. */
const IDENTITIES = new WeakMap<SignedAuthorization, Identity>()
