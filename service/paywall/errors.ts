import { DomainError, invalid } from '../kit/errors.ts'
import { alreadySent, refunderOf } from '../sales/errors.ts'
import type { Sale } from '../sales/model.ts'

/** The same for a paywall that never existed, a removed one, and another account's. */
export function paywallMissing(): DomainError {
  return new DomainError('missing', 'paywall_not_found', 'There is no such paywall.')
}

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment at this gate.')
}

export function paywallPaused(): DomainError {
  return new DomainError(
    'unavailable',
    'paywall_paused',
    'This API is not for sale right now. Try again later. Nothing was charged.',
    {
      retryAfterSeconds: 60,
    },
  )
}

export function routeMissing(method: string): DomainError {
  return new DomainError('missing', 'route_not_found', `This paywall has no route for this ${method} request.`)
}

export function inTestMode(): DomainError {
  return badPayment('x-payment-token', "must be the paywall's test token: it is in test mode")
}

export function pathRefused(why: string): DomainError {
  return invalid({ path: why }, 'invalid_path')
}

export function slugTaken(): DomainError {
  return new DomainError('conflict', 'slug_taken', 'This slug belongs to another paywall. Choose another one.', {
    details: { slug: 'belongs to another paywall' },
  })
}

export function badPayment(header: string, why: string): DomainError {
  return invalid({ [header]: why }, 'invalid_payment')
}

/** What it proves is remembered until it expires. */
export function proofTooLong(): DomainError {
  const sentence = 'This signature is valid for more than 26 hours. Sign one that ends earlier.'
  return new DomainError('expired', 'proof_expired', sentence)
}

export function anotherRequest(): DomainError {
  return new DomainError(
    'conflict',
    ANOTHER_REQUEST,
    'This payment is for another request. Sign a payment for this one.',
  )
}

const ANOTHER_REQUEST = 'payment_for_another_request'

export function underWay(payment: string): DomainError {
  return new DomainError(
    'conflict',
    'payment_processing',
    'This payment is being processed by another request. Try again in a moment.',
    {
      paymentId: payment,
      retryAfterSeconds: 2,
    },
  )
}

export function alreadyDelivered(sale: Pick<Sale, 'id' | 'product'>): DomainError {
  const fields = { paymentId: sale.id, paid: true, deliverable: false }
  return new DomainError('conflict', 'payment_delivered', alreadySent(sale), fields)
}

export function paymentExpired(sentence: string): DomainError {
  return new DomainError('expired', 'payment_expired', sentence)
}

/** Its time is over. Only an `expired` answer is known to have been there: another one may never have been made. */
export function noLongerOwed(sale: Pick<Sale, 'id' | 'product' | 'handover'>): DomainError {
  const sentence =
    sale.handover === 'expired'
      ? 'The answer to this payment was not fetched in time and has been deleted.'
      : `The payment arrived, but its answer was not delivered in time, and no longer can be. Ask ${refunderOf(sale)}`
  const fields = { paymentId: sale.id, paid: true, deliverable: false }
  return new DomainError('expired', 'payment_expired', sentence, fields)
}

/** While the outcome is unknown the answer is never a fresh 402, so no buyer pays twice. */
export function settlementPending(payment: string, statusUrl: string): DomainError {
  return new DomainError(
    'unavailable',
    'settlement_pending',
    'The payment is pending. Send the same request again, with the paymentId as X-Payment-ID and the paymentToken as ' +
      'X-Payment-Token: you are not charged twice.',
    { paymentId: payment, statusUrl, retryAfterSeconds: 3 },
  )
}

export function upstreamFailed(cause: unknown): DomainError {
  if (cause instanceof DomainError) {
    if (cause.kind === 'late') {
      return new DomainError(
        'late',
        'upstream_timeout',
        'The API did not answer in time. Nothing was charged. Try again.',
      ).causedBy(cause)
    }
    if (cause.kind === 'too-large' || cause.code === ANOTHER_REQUEST) return cause
  }
  return new DomainError(
    'upstream',
    'upstream_error',
    'The API could not be reached. Nothing was charged. Try again later.',
  ).causedBy(cause)
}

export function upstreamCompressed(): DomainError {
  return new DomainError(
    'upstream',
    'upstream_error',
    'The API compressed an answer whose tokens are counted, though it was asked not to. Nothing was charged.',
  )
}

export function tooLarge(bytes: number): DomainError {
  return new DomainError('too-large', 'body_too_large', `The body must have at most ${String(bytes)} bytes.`, {
    details: { body: `must have at most ${String(bytes)} bytes` },
  })
}

export function looping(): DomainError {
  return new DomainError(
    'upstream',
    'gate_loop',
    'The upstream URL of this paywall leads back to the paywall. Its owner must change the upstream URL.',
  )
}
