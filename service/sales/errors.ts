import type { Address } from '../chain/model.ts'
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

/** An authorization that is not taken: answered by saying again what is to be paid. */
export class PaymentRefused extends DomainError {
  /** In the protocol's words. */
  readonly reason: string
  /** Whose it is; null where only the presented authorization says that. */
  readonly payer: Address | null

  constructor(reason: string, sentence: string, payer: Address | null) {
    super('unaffordable', 'payment_refused', sentence, { reason })
    this.reason = reason
    this.payer = payer
  }
}

/** What is wrong with an authorization, in the protocol's words and a person's. */
export function paymentRefused(reason: string, sale: Pick<Sale, 'id' | 'payer'> | null = null): DomainError {
  if (reason === USED) return authorizationUsed()
  const sentence = `${sentenceOf(reason)} Nothing was charged.`
  if (reason !== EXPIRED) return new PaymentRefused(reason, sentence, sale?.payer ?? null)
  return new DomainError('expired', 'payment_expired', sentence, { reason })
}

/** What is delivered first takes so long: an authorization that lapses meanwhile would leave it unpaid. */
export function lapsesTooSoon(workMs: number): DomainError {
  return new PaymentRefused(EXPIRED, `${tooShort(workMs)} Nothing was charged.`, null)
}
