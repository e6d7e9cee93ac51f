import { expiredOf } from '../connections/rules.ts'
import { pauseOf } from '../checkouts/rules/lifecycle.ts'
import type { Config } from '../config.ts'
import type { EventName } from '../deliveries/model.ts'
import type { SampleOf } from '../deliveries/ports.ts'
import { disabledOf, endOf } from '../deliveries/service/notices.ts'
import { eventOf as disputeEventOf } from '../disputes/rules.ts'
import { newId } from '../kit/ids.ts'
import { usdc, ZERO } from '../kit/money.ts'
import { toEndEvent, type EndOfRun } from '../marketplace/http/runs.ts'
import { eventsOf, failureOf, type EventPayment } from '../paywall/rules/payment.ts'
import { alertEvent, pausedEvent } from '../budgets/service/news.ts'
import type { Refund } from '../refunds/model.ts'
import { eventOf as refundEventOf } from '../refunds/rules.ts'
import { eventDataOf as passEventOf } from '../passes/rules.ts'
import { lowBalanceOf } from '../wallet/rules.ts'

/** A sample of each event type, made by the code that builds real events, so that test events have the same form. */
export function samplesAt({ addresses, TOP_UP_URL }: Config): SampleOf {
  const samples: Readonly<Record<EventName, (now: Date) => Readonly<Record<string, unknown>>>> = {
    'payment.completed': (now) => paymentEvent('payment.completed', now),
    'payment.failed': (now) =>
      failureOf({ ...paymentAt(now), txHash: null, reason: 'invalid_exact_evm_insufficient_balance' }, now).data,
    'payment.refunded': (now) => refundEvent({ state: 'confirmed', txHash: `0x${'3'.repeat(64)}`, failure: null }, now),
    'refund.failed': (now) => refundEvent({ state: 'failed', txHash: null, failure: 'insufficient_balance' }, now),
    'dispute.opened': (now) => disputeEvent(OPEN, now),
    'dispute.closed': (now) =>
      disputeEvent({ ...OPEN, state: 'declined', answer: 'It was delivered.', endedAt: now }, now),
    'customer.first_payment': (now) => paymentEvent('customer.first_payment', now),
    'revenue.milestone': (now) => paymentEvent('revenue.milestone', now),
    'pricing.tier_changed': (now) => paymentEvent('pricing.tier_changed', now),
    'run.completed': (now) => toEndEvent(endAt(now), addresses.api).data,
    'run.failed': (now) => toEndEvent({ ...endAt(now), ...FAILED }, addresses.api).data,
    'checkout.paused': (now) => pauseOf({ id: newId('chk', now), ...WORKFLOW }, now),
    'pass.created': (now) => ({ ...passAt(now), renewed: false }),
    'pass.ending': passAt,
    'pass.ended': (now) => ({ ...passAt(now), reason: 'time' }),
    'agent.spending.warning': (now) => alertEvent(alertAt(now)).data,
    'agent.spending.exceeded': (now) =>
      alertEvent({ ...alertAt(now), event: 'agent.spending.exceeded', at: 1, spent: TEN }).data,
    'agent.paused': (now) => pausedEvent({ agent: agentAt(now), limit: 'perDay' }).data,
    'connection.expired': (now) =>
      expiredOf({ id: newId('cnx', now), name: 'GitHub', provider: 'github', agentId: null }),
    'wallet.low_balance': () => lowBalanceOf({ available: ONE, below: TEN, topUpUrl: TOP_UP_URL ?? null }),
    'delivery.unconfirmed': deliveryAt,
    'delivery.stopped': deliveryAt,
    'delivery.exhausted': deliveryAt,
    'endpoint.disabled': (now) =>
      disabledOf({
        id: newId('whe', now),
        url: 'https://example.com/hook',
        failingSince: new Date(now.getTime() - 5 * 86_400_000),
      }),
  }
  return (event, now) => samples[event](now)
}

const ONE = usdc(1_000_000n)
const TEN = usdc(10_000_000n)

function paymentAt(now: Date): EventPayment {
  return {
    id: newId('pay', now),
    paywallId: newId('pwl', now),
    payer: `0x${'1'.repeat(40)}`,
    amount: ONE,
    endpoint: 'GET /today/bern',
    route: 'GET /today/:city',
    network: 'base-sepolia',
    txHash: `0x${'2'.repeat(64)}`,
    simulated: false,
    reason: null,
  }
}

/** A payment that causes each of these events. */
function paymentEvent(name: EventName, now: Date): Readonly<Record<string, unknown>> {
  const facts = { customerPayments: 1, revenueBefore: usdc(9_500_000n), revenue: usdc(10_500_000n), milestones: [TEN] }
  const events = eventsOf({ payment: paymentAt(now), ...facts, tier: { from: 0, to: 1 } }, now)
  const found = events.find(({ event }) => event === name)
  if (found === undefined) throw new Error(`no payment leads to ${name}`)
  return found.data
}

function refundEvent(end: Pick<Refund, 'state' | 'txHash' | 'failure'>, now: Date): Readonly<Record<string, unknown>> {
  const refund = { ...end, id: newId('rfd', now), amount: ONE, reason: 'The report was wrong.' }
  const refunded = end.state === 'failed' ? ZERO : ONE
  return refundEventOf({ refund, sale: { ...saleAt(now), refunded }, now, pay: '' }).data
}

function disputeEvent(state: typeof OPEN | EndedDispute, now: Date): Readonly<Record<string, unknown>> {
  const answerBy = new Date(now.getTime() + 7 * 86_400_000)
  const dispute = { ...state, ...REPORT, id: newId('dsp', now), answerBy }
  return disputeEventOf({ dispute, sale: { ...saleAt(now), refunded: ZERO }, now, pay: '' }).data
}

const OPEN = { state: 'open', answer: null, endedAt: null } as const
const REPORT = { reason: 'service_not_delivered', text: 'No report came.', amount: null, refundId: null } as const

interface EndedDispute {
  state: 'declined'
  answer: string
  endedAt: Date
}

function saleAt(now: Date) {
  const { endpoint, route, paywallId: subject, ...payment } = paymentAt(now)
  return { ...payment, product: 'gate' as const, subject, details: { endpoint, route }, resource: null }
}

function endAt(now: Date): EndOfRun {
  return {
    run: { id: newId('run', now), rdaId: newId('rda', now), rdaSlug: 'example', modelId: 'sandbox/echo' },
    state: 'succeeded',
    output: 'This is the output of a run.',
    cost: usdc(50_000n),
    durationMs: 1_200,
    usage: { promptTokens: 12, completionTokens: 8 },
    failure: null,
    endedAt: now,
  }
}

const FAILED = {
  state: 'failed',
  output: null,
  cost: usdc(0n),
  usage: null,
  failure: { code: 'upstream_error', sentence: 'The model did not answer.' },
} as const

const WORKFLOW = {
  product: { name: 'SEO audit', description: null },
  callbackUrl: 'https://n8n.example.com/webhook/paid',
  source: { instanceId: 'instance', workflowId: 'workflow', nodeId: 'node' },
}

function agentAt(now: Date) {
  return { id: newId('agt', now), name: 'Researcher' }
}

function alertAt(now: Date) {
  const window = new Date(Math.floor(now.getTime() / 86_400_000) * 86_400_000)
  const figures = { limit: 'perDay', at: 0.8, window, spent: usdc(8_000_000n), allowed: TEN }
  return { agent: agentAt(now), event: 'agent.spending.warning' as const, ...figures }
}

function passAt(now: Date) {
  const pass = { id: newId('pas', now), checkoutId: newId('chk', now), planId: 'ten', planName: 'Ten runs' }
  const holder = { holder: `0x${'1'.repeat(40)}` as const, simulated: false, runs: 10, used: 1, until: null }
  return { ...passEventOf({ ...pass, ...holder }, now) }
}

function deliveryAt(now: Date) {
  return endOf({ id: newId('dlv', now), subject: newId('pay', now) })
}
