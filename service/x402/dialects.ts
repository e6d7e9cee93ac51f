import { createHash } from 'node:crypto'
import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import type { Clock } from '../kit/clock.ts'
import {
  isOwnChallenge,
  issueChallenge,
  nonceOf,
  OTHER_HEADER,
  toAuthenticate,
  type Challenge,
} from '../mpp/challenge.ts'
import { credentialText } from '../mpp/credential.ts'
import { paymentReceipt, problem, problemOf, toPaymentReceipt } from '../mpp/problems.ts'
import { bazaarOf } from './bazaar.ts'
import { identifierExtension } from './identifier.ts'
import type { Headers, Presented, RefundTerms, Requirements, Resource } from './model.ts'
import {
  offersExtension,
  RECEIPT_HEADER,
  receiptExtension,
  type JsonSigned,
  type OfferSigner,
  type ReceiptPayload,
  type TypedSigned,
} from './offer-receipt.ts'
import { speaksMpp } from './payload.ts'
import { refundExtension } from './refund.ts'
import { TOKEN_PERMIT_EXTENSION } from './upto.ts'
import { signInExtension, signInOf, type SignInTerms } from './sign-in.ts'

/** The contents of a 402 besides the terms to sign. */
export interface Required {
  /** Null when there is nothing to sign: in test mode. */
  requirements: Requirements | null
  resource: Resource
  /** In USDC, as a decimal. */
  amount: string
  facilitator: string
  recipient: string
  /** A text for people. */
  memo: string
  error: string
  /** The protocol's reason why the presented payment is refused. Null when no payment was presented. */
  reason: string | null
  /** Whether a payment must have an identifier of the client's choice. No when absent. */
  requiresIdentifier?: boolean
  /** What the buyer may sign in to instead of paying. */
  signIn?: SignInTerms
  /** How to ask for the money back. Absent where the seller offers no such way. */
  refund?: RefundTerms
  /** Further fields of the body. */
  more?: Readonly<Record<string, unknown>>
}

/** The result of a payment. */
export interface Receipt {
  success: boolean
  txHash: string | null
  network: NetworkName
  payer: string
  /** What was taken of what was signed for, in micro-USDC. Absent where all of it was. */
  taken?: bigint
  /** The address that was paid for. */
  resource: string
  /** When the money arrived. */
  paidAt: Date
  reason?: string | null
}

/** How a payment is asked for and confirmed, in every protocol at once: x402 versions 1 and 2, and MPP. */
export interface Dialects {
  /** The 402 for this request: version 1's body, version 2's header and MPP's challenge in one response. */
  required(required: Required, header: Headers): Promise<{ headers: Written; body: Written<unknown> }>
  /** The same terms as values, for messages that have no headers: version 2's 402, and MPP's challenge. */
  terms(required: Required): { x402: Written<unknown>; challenge: Challenge | null }
  /** The headers with the payment's result, for the client that presented it. */
  receipt(receipt: Receipt, presented: Pick<Presented, 'version' | 'challenge'> | null): Promise<Written>
  /** The signed receipt of a call that a balance pays for; no protocol has a result for it. */
  drawn(call: Pick<Receipt, 'network' | 'payer' | 'resource' | 'paidAt'>): Written
  /** The payment's result as a value: of x402 version 2, or of MPP where a challenge was answered. */
  result(receipt: Receipt, challenge: Challenge | null): Written<unknown>
  /** The sign-in of a buyer who has paid before: null when there is none, a sentence when it proves nothing. */
  signIn(header: Headers, terms: SignInTerms): ReturnType<typeof signInOf>
  /** Why a payment does not answer our challenge; null when it does, and for x402, which has none. */
  refusal(presented: Presented, requirements: Requirements): 'invalid_challenge' | 'payment_expired' | null
  /**
   * The receipt, signed as JSON or as typed data. Null when nothing was paid on a chain, and where nothing signs. It is
   * the same each time.
   */
  signed: {
    jws(receipt: Receipt): JsonSigned | null
    eip712(receipt: Receipt): TypedSigned<ReceiptPayload> | null
    /** The terms that were paid, because a receipt does not contain them. As an offer they end with the payment. */
    terms(receipt: Receipt, terms: { scheme: string; amount: bigint; payTo: string }): JsonSigned | null
  }
}

type Written<Value = string> = Readonly<Record<string, Value>>

/**
 * `key` makes the ids of challenges: a payment is refused where another key made its challenge. Without a signer, offers
 * and receipts are not signed.
 */
export function createDialects({ key, clock, signer }: DialectDeps): Dialects {
  const signed = signingBy(signer)

  function version2(required: Required) {
    const { requirements, resource, error, reason } = required
    const extensions = extensionsOf(required, { signer, key, clock })
    return {
      x402Version: 2,
      error: reason ?? error,
      resource,
      accepts: requirements === null ? [] : acceptedBy(requirements),
      ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
    }
  }

  function resultOf(receipt: Receipt) {
    const { success, txHash, network, payer, taken, reason } = receipt
    const proof = signed.jws(receipt)
    return {
      success,
      transaction: txHash ?? '',
      network: NETWORKS[network].caip2,
      payer,
      ...(taken === undefined ? {} : { amount: String(taken) }),
      ...(reason == null ? {} : { errorReason: reason }),
      ...(proof === null ? {} : { extensions: receiptExtension(proof) }),
    }
  }

  return {
    signed,

    terms: (required) => ({
      x402: version2(required),
      challenge: challengeOf(required, () => undefined, { key, clock }),
    }),

    result(receipt, challenge) {
      if (challenge === null) return resultOf(receipt)
      const { txHash, paidAt } = receipt
      return { ...paymentReceipt({ reference: txHash ?? '', at: paidAt }), challengeId: challenge.id }
    },

    async required(required, header) {
      const { amount, facilitator, recipient, memo, error, reason, more } = required
      const challenge = challengeOf(required, header, { key, clock })
      const first = signableBefore2(required)
      const second = version2(required)
      const body = {
        x402Version: 1,
        error,
        reason,
        code: reason === null ? 'payment_required' : 'payment_refused',
        accepts: first === null ? [] : [first.v1],
        type: 'x402',
        amount,
        currency: 'USDC',
        facilitator,
        recipient,
        memo,
        ...more,
      }
      const isMpp = challenge !== null && speaksMpp(header)
      return {
        headers: {
          'Cache-Control': 'no-store',
          'PAYMENT-REQUIRED': toHeader(second),
          ...(challenge === null ? {} : { 'WWW-Authenticate': toAuthenticate(challenge) }),
          'X-Payment-Required': 'true',
          'X-Payment-Amount': amount,
          'X-Payment-Currency': 'USDC',
          'X-Payment-Facilitator': facilitator,
          ...(isMpp ? { 'Content-Type': 'application/problem+json' } : {}),
        },
        body: isMpp ? { ...body, ...problem(problemOf(reason), error, challenge.id) } : body,
      }
    },

    drawn: (call) => (signer === null ? {} : { [RECEIPT_HEADER]: signer.jws(payloadOf(call, '')).signature }),

    async receipt(receipt, presented) {
      const { success, txHash, network, paidAt } = receipt
      const proof = signed.jws(receipt)
      const beside = proof === null ? {} : { [RECEIPT_HEADER]: proof.signature }
      if (presented?.challenge != null) {
        if (!success) return {}
        return { 'Payment-Receipt': toPaymentReceipt({ reference: txHash ?? '', at: paidAt }), ...beside }
      }
      const result = resultOf(receipt)
      if (presented?.version !== 1) return { 'PAYMENT-RESPONSE': toHeader(result) }
      // Version 1 has no extensions, and its own names of networks.
      const first = { ...result, network: NETWORKS[network].name, extensions: undefined }
      return { 'X-PAYMENT-RESPONSE': toHeader(first), ...beside }
    },

    signIn: (header, terms) => signInOf(header, terms, { key, now: clock.now() }),

    refusal({ challenge, authorization }, { v1 }) {
      if (challenge === null) return null
      if (!isOwnChallenge(challenge, v1.resource, key)) return 'invalid_challenge'
      const { expires } = challenge
      if (expires === null || Date.parse(expires) <= clock.now().getTime()) return 'payment_expired'
      // What was signed must be what was offered: this challenge, and nothing that was signed for another one.
      if (authorization === null) return null
      return authorization.nonce === nonceOf(challenge) ? null : 'invalid_challenge'
    },
  }
}

/** An expired challenge is replaced by a new one, so it lives as long as a signature of x402. */
function challengeOf(required: Required, header: Headers, { key, clock }: Pick<DialectDeps, 'key' | 'clock'>) {
  const { resource, memo: description } = required
  const requirements = signableBefore2(required)
  if (requirements === null) return null
  const { amount, asset: currency, payTo: recipient, network, maxTimeoutSeconds } = requirements.v2
  const chainId = Number(network.slice(network.indexOf(':') + 1))
  const terms = { amount: BigInt(amount), currency, recipient, chainId, description, resource: resource.url }
  const expires = new Date(clock.now().getTime() + maxTimeoutSeconds * 1_000)
  // The client needs its `Authorization` for the API that is paid for.
  const own = header('authorization')
  const isTaken = own !== undefined && credentialText(own) === null
  return issueChallenge(terms, key, { expires, header: isTaken ? OTHER_HEADER : null })
}

/** What version 1 and MPP can pay: nothing where an identifier or the escrow is required, which only version 2 knows. */
function signableBefore2({ requirements, requiresIdentifier = false }: Required): Requirements | null {
  return requiresIdentifier || requirements?.escrow !== undefined ? null : requirements
}

interface DialectDeps {
  key: Buffer
  clock: Clock
  signer: OfferSigner | null
}

/** What version 2 accepts. `exact` comes first, for the clients that look no further. */
function acceptedBy({ v2, upto, escrow }: Requirements) {
  return escrow === undefined ? [v2, ...(upto === undefined ? [] : [upto])] : [escrow]
}

/** Version 2's extensions, by their keys. A simulated payment has none: there is nothing to find and to pay for. */
function extensionsOf(
  { requirements, resource, requiresIdentifier = false, signIn, refund }: Required,
  { signer, key, clock }: DialectDeps,
) {
  if (requirements === null) return {}
  const { v1, upto, escrow } = requirements
  const bazaar = escrow === undefined ? bazaarOf(v1.outputSchema) : null
  const offers = signer === null ? [] : acceptedBy(requirements).map((terms) => signer.offers(terms, resource.url))
  return {
    ...(bazaar === null ? {} : { bazaar }),
    ...offersExtension(offers.flatMap((signed, acceptIndex) => signed.map((offer) => ({ ...offer, acceptIndex })))),
    ...(upto === undefined ? {} : TOKEN_PERMIT_EXTENSION),
    ...identifierExtension(requiresIdentifier),
    ...(refund === undefined ? {} : refundExtension(refund)),
    ...(signIn === undefined ? {} : signInExtension(signIn, key, clock.now())),
  }
}

function signingBy(signer: OfferSigner | null): Dialects['signed'] {
  function signable<Result>(receipt: Receipt, sign: (payload: ReceiptPayload, by: OfferSigner) => Result) {
    const payload = signer === null ? null : receiptPayload(receipt)
    return signer === null || payload === null ? null : sign(payload, signer)
  }

  return {
    jws: (receipt) => signable(receipt, (payload, by) => by.jws(payload)),
    eip712: (receipt) => signable(receipt, (payload, by) => by.eip712(payload)),
    terms: (receipt, { scheme, amount, payTo }) =>
      signable(receipt, (payload, by) => {
        const { version, resourceUrl, network, issuedAt: validUntil } = payload
        const asset = NETWORKS[receipt.network].usdc.checksummed
        const terms = { scheme, network, asset, payTo, amount: String(amount) }
        const receiptHash = createHash('sha256').update(by.jws(payload).signature).digest('base64url')
        return by.jws({ version, resourceUrl, ...terms, validUntil, receiptHash })
      }),
  }
}

/** Null when nothing was paid on a chain: a simulated payment has no receipt that others could rely on. */
function receiptPayload(receipt: Receipt): ReceiptPayload | null {
  const { success, txHash, resource } = receipt
  return success && resource !== '' && txHash !== null && TRANSACTION.test(txHash) ? payloadOf(receipt, txHash) : null
}

function payloadOf(
  { network, payer, resource, paidAt }: Pick<Receipt, 'network' | 'payer' | 'resource' | 'paidAt'>,
  transaction: string,
): ReceiptPayload {
  const issuedAt = Math.floor(paidAt.getTime() / 1_000)
  return { version: 1, network: NETWORKS[network].caip2, resourceUrl: resource, payer, issuedAt, transaction }
}

const TRANSACTION = /^0x[0-9a-f]{64}$/i

/** A value encoded for one header. */
export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
