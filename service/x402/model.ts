import type { Address, Hex, PaymentInfo, SignedAuthorization, SignedPermit, TokenPermit } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Challenge } from '../mpp/challenge.ts'
import type { Reason } from './reasons.ts'

/** The headers of one request, by their names in lower case. */
export type Headers = (name: string) => string | undefined

export type Version = 1 | 2

/** The terms to sign. */
export interface Price {
  amount: bigint
  recipient: Address
  network: NetworkName
}

/** The resource for sale, as a 402 describes it. */
export interface Resource {
  url: string
  description: string
  mimeType: string
  /** For catalogues: at most 32 printable ASCII characters. */
  serviceName?: string
  /** For catalogues: at most five, of at most 32 printable ASCII characters each. */
  tags?: readonly string[]
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

/** The terms of a payment that waits in the escrow. Version 1 and MPP know no such scheme. */
export interface EscrowRequirements extends Omit<RequirementsV2, 'scheme' | 'extra'> {
  scheme: 'auth-capture'
  extra: {
    name: string
    version: string
    captureAuthorizer: Address
    /** Unix seconds. */
    captureDeadline: number
    refundDeadline: number
    feeRecipient: Address
    minFeeBps: number
    maxFeeBps: number
    paymentFlow: 'escrow'
    captureMode: 'deferred'
    authCaptureEscrow: Address
  }
}

/** The terms of a payment of which only what was used is taken. Version 1 and MPP know no such scheme. */
export interface UptoRequirements extends Omit<RequirementsV2, 'scheme' | 'extra'> {
  scheme: 'upto'
  extra: { name: string; version: string; assetTransferMethod: 'permit2'; facilitatorAddress: Address }
}

/** The same terms in the formats of both versions. */
export interface Requirements {
  v1: RequirementsV1
  v2: RequirementsV2
  /** Offered beside both, where what is used is known only after the work. */
  upto?: UptoRequirements
  /** Where the money waits in the escrow: offered alone, in place of both. */
  escrow?: EscrowRequirements
  /** The amount that is offered to a buyer who chooses nothing, where this one may pay another. Catalogues show it. */
  listed?: string
}

/** A payment as a buyer presents it. */
export interface Presented {
  version: Version
  /** The header or body field that contained it. */
  field: string
  /** As it arrived. */
  payload: Readonly<Record<string, unknown>>
  scheme: string
  /** As it was written. */
  networkName: string
  /** Null for an unknown network. */
  network: Network | null
  /**
   * What the payer has signed: an authorization (EIP-3009), or the same terms of a `permit`. Null when the payload is of
   * another kind.
   */
  authorization: SignedAuthorization | null
  /** In its original spelling, for the response. */
  payer: string | null
  /** What the payload has for the escrow. Null when it has nothing for it. */
  escrow: EscrowPayload | null
  /** What the payer has signed for the scheme `upto`. Null when it has signed nothing for it. */
  permit: SignedPermit | null
  /** The challenge that a payment of MPP answers. Null for x402. */
  challenge: Challenge | null
  /** What the client returned of the 402's extensions, and its own fields in them. Empty in version 1. */
  extensions: Readonly<Record<string, unknown>>
}

/** The body of a request to a facilitator: the presented payment and the terms that it pays for. */
export interface RequestBody {
  x402Version: Version
  paymentPayload: unknown
  paymentRequirements: unknown
}

/** The same request parsed: one shape for both versions. */
export interface PaymentRequest {
  version: Version
  /** The method that the buyer chose. */
  offered: { scheme: string; network: string }
  /** The seller's terms. */
  required: {
    scheme: string
    /** In its original spelling, for the response. */
    network: string
    payTo: Address
    asset: Address
    /** Micro-USDC. */
    amount: bigint
    domain: { name: string | null; version: string | null }
  }
  /** The network of both parts. Null when the version does not know its name. */
  network: Network | null
  /** An authorization (EIP-3009) only where there is no `permit`. */
  authorization: SignedAuthorization | null
  payer: string | null
  /** Null unless the seller's terms are those of the scheme `auth-capture`. */
  escrow: EscrowRequest | null
  permit: SignedPermit | null
  /** What lets Permit2 move the token first. Null when the payer sent none that can be read. */
  tokenPermit: SponsoredPermit | null
  /** The only reason that differs between the versions. */
  valueMismatch: Reason
}

/** The extension `eip2612GasSponsoring`, as the payer sent it. */
export interface SponsoredPermit extends TokenPermit {
  from: Address
  asset: Address
  spender: Address
}

export interface EscrowRequest {
  /** Null when the terms lack something, or have something unreadable. */
  terms: EscrowTerms | null
  payload: EscrowPayload | null
}

/** The seller's terms for a payment that waits in the escrow. Times are Unix seconds. */
export interface EscrowTerms {
  captureAuthorizer: Address
  /** Signs the seller's messages. Null when it signs none. */
  receiverAuthorizer: Address | null
  captureDeadline: bigint
  refundDeadline: bigint
  feeRecipient: Address
  minFeeBps: number
  maxFeeBps: number
  maxTimeoutSeconds: number
  operatorType: string
  paymentFlow: string
  assetTransferMethod: string
  hasPolicy: boolean
}

/** The payer's part beside its authorization, or a message of the seller about a payment that the escrow holds. */
export type EscrowPayload =
  | { type: 'authorize'; salt: Hex; saltNonce: Hex | null }
  | ({ type: 'capture'; amount: bigint; feeAmount: bigint; feeReceiver: Address } & Lifecycle & {
        expected: { capturable: bigint; refundable: bigint }
        /** Asks to void what the capture leaves. */
        voidSignature: Hex | null
      })
  | ({ type: 'void' } & Lifecycle)
  | ({ type: 'refund' } & Lifecycle)

interface Lifecycle {
  info: PaymentInfo
  saltNonce: Hex
  signature: Hex
}

/** One way to pay, as a seller offers it. */
export interface Offer {
  /** A version of x402, or MPP. */
  version: 1 | 2 | 'mpp'
  scheme: string
  /** In the seller's spelling. */
  network: string
  asset: string
  payTo: string
  amount: bigint
  timeoutSeconds: number
  /** Unix seconds. Null when the offer names no time. */
  expires: number | null
  /** The header that carries the payment. */
  header: string
  /** The EIP-712 domain's name and version, if the seller gives them. */
  domain: { name: string; version: string } | null
  /** As it arrived, because the protocol requires it to be sent back. */
  raw: Readonly<Record<string, unknown>>
  resource: unknown
}

/** How a payer asks for the money back, by the extension `refund`. */
export interface RefundTerms {
  refundEndpoint: string
  windowSeconds: number
  partialRefunds: boolean
}
