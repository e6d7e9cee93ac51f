import { DomainError } from '../kit/errors.ts'
import { tooShort } from '../x402/requirements.ts'
import { EXPIRED, sentenceOf, USED } from '../x402/reasons.ts'
import type { Sale } from './model.ts'

/** One authorization buys one thing. */
export function authorizationUsed(): DomainError {
  return new DomainError('conflict', 'authorization_used', 'This authorization has paid for something else already.')
}

/** A submitted authorization can be read on the chain by everybody: the answer is the same for every state of its sale. */
export function paymentSubmitted(): DomainError {
  return new DomainError(
    'conflict',
    'payment_submitted',
    'This authorization was submitted already and proves nothing any more. Send the payment token beside it as ' +
      'X-Payment-Token, or its nonce as X-Payment-ID with a fresh signature of the payer. You are not charged twice.',
  )
}

/** What is wrong with an authorization, in the protocol's words and a person's. */
export function paymentRefused(reason: string, sale: Pick<Sale, 'id' | 'product'> | null = null): DomainError {
  if (reason === USED) return authorizationUsed()
  const sentence = `${sentenceOf(reason)} Nothing was charged.`
  const named = sale === null ? {} : { [sale.product === 'tool' ? 'callId' : 'paymentId']: sale.id }
  const fields = { reason, ...named }
  return reason === EXPIRED
    ? new DomainError('expired', 'payment_expired', sentence, fields)
    : new DomainError('unaffordable', 'payment_refused', sentence, fields)
}

/** What is delivered first takes so long: an authorization that lapses meanwhile would leave it unpaid. */
export function lapsesTooSoon(workMs: number): DomainError {
  const sentence = `${tooShort(workMs)} Nothing was charged.`
  return new DomainError('unaffordable', 'payment_refused', sentence, { reason: EXPIRED })
}
