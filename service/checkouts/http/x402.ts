import type { Reply } from '../../api/route.ts'
import type { PaymentView } from '../views.ts'
import { refusalIn } from '../../sales/errors.ts'
import type { Offer } from '../../sales/model.ts'
import { answerUnpaid } from '../../sales/service/door.ts'
import type { Dialects } from '../../x402/dialects.ts'
import type { Headers, Presented } from '../../x402/model.ts'

/** How the buyer's client asks, and how it is answered. */
export interface Dialogue {
  dialects: Dialects
  facilitator: string
  header: Headers
}

/** A refused payment repeats the requirements; other errors are handled as usual. */
export async function requireAgain(error: unknown, dialogue: Dialogue, offer: () => Promise<Offer>): Promise<Reply> {
  const refusal = refusalIn(error, dialogue.header)
  if (refusal === null) throw error
  return await answerUnpaid(await offer(), dialogue, dialogue.header, refusal)
}

/** A sale, with the receipt in the header that its client reads. */
export async function sold(
  answer: Reply,
  { dialects, presented, resource }: { dialects: Dialects; presented: Presented | null; resource: string },
): Promise<Reply> {
  const { payment } = answer.body as PaymentView
  // Without a payment there is no receipt of one.
  if (payment.free !== null) return answer
  if (payment.status === 'created' || payment.status === 'settling') return answer
  const { status, network, payer, txHash } = payment
  const success = status === 'paid'
  const paidAt = new Date(payment.paidAt ?? payment.createdAt)
  const result = { success, txHash, network, payer, resource, paidAt, reason: payment.reason?.code ?? null }
  const receipt = await dialects.receipt(result, presented)
  return { ...answer, status: success ? 200 : 402, headers: { ...answer.headers, ...receipt } }
}
