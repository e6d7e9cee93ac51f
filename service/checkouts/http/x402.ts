import type { Reply } from '../../api/route.ts'
import { DomainError } from '../../kit/errors.ts'
import type { PaymentView } from '../model.ts'
import { NETWORKS } from '../../chain/networks.ts'
import { toHeader } from '../../chain/x402.ts'
import { requiredHeader } from '../rules/x402.ts'
import type { Offer } from '../service/show.ts'

/** The specification's 402, version 1's body and version 2's header in one answer. */
export function toRequired(offer: Offer, error: string, reason: string | null = null): Reply {
  const { v1, v2 } = offer.requirements
  return {
    status: 402,
    headers: {
      'Cache-Control': 'no-store',
      'PAYMENT-REQUIRED': requiredHeader(offer.product, v2, offer.address, reason ?? error),
      'X-Payment-Required': 'true',
      'X-Payment-Amount': offer.amount,
      'X-Payment-Currency': 'USDC',
      'X-Payment-Facilitator': offer.facilitator,
    },
    body: {
      x402Version: 1,
      error,
      reason,
      code: reason === null ? 'payment_required' : 'payment_refused',
      accepts: [v1],
      type: 'x402',
      amount: offer.amount,
      currency: 'USDC',
      facilitator: offer.facilitator,
      recipient: offer.recipient,
      memo: offer.product,
      expires: offer.expires.toISOString(),
    },
  }
}

/** A refusal by x402 says again what is to be paid; anything else is an error like all others. */
export async function requireAgain(error: unknown, offer: () => Promise<Offer>): Promise<Reply> {
  if (!(error instanceof DomainError) || error.code !== 'payment_refused') throw error
  return toRequired(await offer(), error.message, String(error.fields['reason']))
}

/** A sale with the receipt where a client of that version looks for it. */
export function sold(answer: Reply, version: 1 | 2): Reply {
  const { payment } = answer.body as PaymentView
  if (payment.status === 'created' || payment.status === 'settling') return answer
  const network = NETWORKS[payment.network]
  const success = payment.status === 'paid'
  const receipt = toHeader({
    success,
    transaction: payment.txHash ?? '',
    network: version === 1 ? network.name : network.caip2,
    payer: payment.payer,
    ...(payment.reason === null ? {} : { errorReason: payment.reason.code }),
  })
  const name = version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE'
  return { ...answer, status: success ? 200 : 402, headers: { ...answer.headers, [name]: receipt } }
}
