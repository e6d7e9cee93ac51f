import type { Output } from '../../api/ask.ts'

export type EventName = Output<'webhooks.get'>['events'][number]

/** What each event means to whoever wants to be told. */
export const EVENTS: Readonly<Record<EventName, string>> = {
  'payment.completed': 'A payment succeeded',
  'payment.failed': 'A payment failed',
  'customer.first_payment': 'A customer paid for the first time',
  'revenue.milestone': 'A revenue milestone was reached',
  'pricing.tier_changed': 'A customer moved to another tier',
  'run.completed': 'A run succeeded',
  'run.failed': 'A run failed',
  'checkout.paused': 'A workflow does not answer any more',
  'agent.spending.warning': 'An agent comes near a limit',
  'agent.spending.exceeded': 'An agent reached a limit',
  'agent.paused': 'An agent was paused',
  'wallet.low_balance': 'The wallet runs low',
  'delivery.unconfirmed': 'A delivery was taken, and nobody confirmed it',
  'delivery.stopped': 'A receiver wants no more of a delivery',
  'delivery.exhausted': 'A delivery failed at every attempt',
  'endpoint.disabled': 'An endpoint failed for five days',
}
