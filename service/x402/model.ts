import type { Address, SignedAuthorization } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Reason } from './reasons.ts'

export type Version = 1 | 2

/** What has to be signed for. */
export interface Price {
  amount: bigint
  recipient: Address
  network: NetworkName
}

/** What is bought, as a 402 describes it. */
export interface Resource {
  url: string
  description: string
  mimeType: string
}

interface Terms {
  scheme: 'exact'
  network: string
  payTo: Address
  maxTimeoutSeconds: number
  asset: Address
  extra: { name: string; version: string }
}

export interface RequirementsV1 extends Terms {
  maxAmountRequired: string
  resource: string
  description: string
  mimeType: string
  outputSchema: Readonly<Record<string, unknown>>
}

export interface RequirementsV2 extends Terms {
  amount: string
}

/** The same terms in the words of both versions. */
export interface Requirements {
  v1: RequirementsV1
  v2: RequirementsV2
}

/** A payment as a buyer presents it. */
export interface Presented {
  version: Version
  /** The header or the body's field that it came in. */
  field: string
  /** As it came. */
  payload: Readonly<Record<string, unknown>>
  scheme: string
  /** As it was written. */
  networkName: string
  /** Null for one that is not known here. */
  network: Network | null
  /** Null when it is a payload of another kind than EIP-3009. */
  authorization: SignedAuthorization | null
  /** As it was written, for the answer. */
  payer: string | null
}

/** The body of a request to a facilitator: what was presented, and the terms that it is for. */
export interface RequestBody {
  x402Version: Version
  paymentPayload: unknown
  paymentRequirements: unknown
}

/** The same, read: what either version says, in one shape. */
export interface PaymentRequest {
  version: Version
  /** What the buyer chose to pay by. */
  offered: { scheme: string; network: string }
  /** What the seller wants. */
  required: {
    scheme: string
    /** As it was written, for the answer. */
    network: string
    payTo: Address
    asset: Address
    /** Micro-USDC. */
    amount: bigint
    domain: { name: string | null; version: string | null }
  }
  /** Both speak of this one; null where the version does not know the name. */
  network: Network | null
  authorization: SignedAuthorization | null
  payer: string | null
  /** The one reason that the versions call differently. */
  valueMismatch: Reason
}

/** One way to pay, as a seller offers it. */
export interface Offer {
  version: 1 | 2
  scheme: string
  /** In the seller's spelling. */
  network: string
  asset: string
  payTo: string
  amount: bigint
  timeoutSeconds: number
  /** The EIP-712 domain's name and version, where the seller says them. */
  domain: { name: string; version: string } | null
  /** As it came: the protocol wants it said again. */
  raw: Readonly<Record<string, unknown>>
  resource: unknown
}
