import type { Reply } from '../../api/route.ts'
import type { PaymentView } from '../views.ts'
import { refusalIn } from '../../sales/errors.ts'
import { requiredOf } from '../../sales/service/door.ts'
import type { Dialects } from '../../x402/dialects.ts'
import type { Headers, Presented } from '../../x402/model.ts'
import type { QuotedOffer } from '../service/presenter.ts'

/** How the buyer's client asks, and how it is answered. */
export interface Dialogue {
  dialects: Dialects
  facilitator: string
  header: Headers
}

export async function toRequired(
  offer: QuotedOffer,
  { dialects, facilitator, header }: Dialogue,
  { sentence: error, reason }: { sentence: string; reason: string | null } = UNPAID,
): Promise<Reply> {
  const required = requiredOf(offer, facilitator, { error, reason })
  const plans = offer.plans.length === 0 ? {} : { plans: offer.plans }
  const more = { expires: offer.expires.toISOString(), ...plans }
  return { status: 402, ...(await dialects.required({ ...required, memo: offer.name, more }, header)) }
}

const UNPAID = { sentence: 'A payment is required.', reason: null }

/** A refused payment repeats the requirements; other errors are handled as usual. */
export async function requireAgain(
  error: unknown,
  dialogue: Dialogue,
  offer: () => Promise<QuotedOffer>,
): Promise<Reply> {
  const refusal = refusalIn(error, dialogue.header)
  if (refusal === null) throw error
  return await toRequired(await offer(), dialogue, refusal)
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
