import { inUsdc } from '../../../../ui-kit/format.ts'
import type { Output } from '../../api/procedures.ts'

interface Moment {
  /** Null where it was not written down. */
  at: string | null
  text: string
  detail: string | null
}

type Payment = Output<'payments.get'>
type Delivery = Output<'deliveries.list'>['deliveries'][number]

/** What became of a payment, oldest first. */
export function timeLineOf(payment: Payment, delivery: Delivery | null): Moment[] {
  const { createdAt, paidAt, endedAt, amount, free, state, refunds } = payment
  const moments = [
    moment(createdAt, 'Ordered'),
    moment(paidAt, free === null ? `Paid ${inUsdc(amount)} USDC` : 'Confirmed without a payment'),
    ...(delivery === null ? [] : momentsOf(delivery)),
    ...refunds.flatMap((refund) => {
      const sum = `${inUsdc(refund.amount)} USDC`
      const end = refund.state === 'failed' ? `Refund of ${sum} failed` : `Refunded ${sum}`
      return [
        moment(refund.createdAt, `Refund of ${sum} requested`, refund.reason),
        moment(refund.endedAt, end, refund.failure?.sentence ?? null),
      ]
    }),
  ].filter((each) => each !== null)
  // Of one moment the order above is the right one.
  const sorted = moments.sort((one, other) => Date.parse(one.at ?? '') - Date.parse(other.at ?? ''))
  if (state !== 'failed' && state !== 'released') return sorted
  const text = state === 'failed' ? 'No money arrived' : 'The work failed; nothing was charged'
  return [...sorted, { at: endedAt, text, detail: payment.reason?.sentence ?? null }]
}

function momentsOf({ status, claimedAt, deliveredAt, lastAttemptAt, lastStatus, lastError, attemptCount }: Delivery) {
  const answer = lastStatus === null ? lastError : `The last answer was ${String(lastStatus)}.`
  const attempts = attemptCount === 1 ? '1 attempt' : `${String(attemptCount)} attempts`
  switch (status) {
    case 'delivered':
      return [moment(claimedAt, 'Work started'), moment(deliveredAt, 'Delivered')]
    case 'claimed':
      return [moment(claimedAt, 'Work started')]
    case 'unconfirmed':
      return [moment(claimedAt, 'Work started'), moment(lastAttemptAt, 'The workflow did not confirm it', answer)]
    case 'stopped':
    case 'exhausted':
      return [moment(lastAttemptAt, `Delivery failed after ${attempts}`, answer)]
    case 'pending':
      return [moment(lastAttemptAt, `Not delivered yet, after ${attempts}`, answer)]
  }
}

function moment(at: string | null, text: string, detail: string | null = null): Moment | null {
  return at === null ? null : { at, text, detail }
}
