import type { Reply } from '../../api/route.ts'
import { DomainError } from '../../kit/errors.ts'
import type { PaymentView } from '../model.ts'
import { paymentRequired, receiptHeader } from '../../x402/answers.ts'
import type { Offer } from '../service/presenter.ts'

export function toRequired(offer: Offer, error: string, reason: string | null = null): Reply {
  const { product, address, expires, ...terms } = offer
  const resource = { url: address, description: product, mimeType: 'application/json' }
  const more = { expires: expires.toISOString() }
  return { status: 402, ...paymentRequired({ ...terms, resource, memo: product, error, reason, more }) }
}

/** A refusal by x402 repeats the requirements; other errors are handled as usual. */
export async function requireAgain(error: unknown, offer: () => Promise<Offer>): Promise<Reply> {
  if (!(error instanceof DomainError) || error.code !== 'payment_refused') throw error
  return toRequired(await offer(), error.message, String(error.fields['reason']))
}

/** A sale, with the receipt in the header that a client of that version reads. */
export function sold(answer: Reply, version: 1 | 2): Reply {
  const { payment } = answer.body as PaymentView
  if (payment.status === 'created' || payment.status === 'settling') return answer
  const { status, network, payer, txHash } = payment
  const success = status === 'paid'
  const [name, receipt] = receiptHeader(
    { success, txHash, network, payer, reason: payment.reason?.code ?? null },
    version,
  )
  return { ...answer, status: success ? 200 : 402, headers: { ...answer.headers, [name]: receipt } }
}
