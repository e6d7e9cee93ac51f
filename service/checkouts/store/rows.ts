import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Field } from '../../kit/fields.ts'
import type { Id } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import { plansFromStored, plansToStored, type Plan } from '../../passes/model.ts'
import { callsWorkflow } from '../rules/after.ts'
import type { After, Capture, Chat, Checkout, Lifetime, Picture, Pricing, ResponseMode } from '../model.ts'
import { withAmounts } from '../rules/price.ts'
import { fromStoredPricing } from '../rules/versions.ts'

export interface CheckoutRow {
  id: Id<'chk'>
  user_id: string
  environment: Environment
  state: Checkout['state']
  lifetime: Lifetime
  leased_until: Date | null
  /** Empty where no workflow is called: the release before requires a text. */
  callback_url: string
  after: After | null
  picture: Picture | null
  product_name: string
  product_description: string | null
  price: bigint
  /** Amounts as text. */
  pricing: Pricing<string>
  coupons: boolean
  network: NetworkName
  recipient: Address | null
  fields: Field[]
  redirect_url: string | null
  test_mode: boolean
  response_mode: ResponseMode
  preflight: boolean
  redeliver_unconfirmed: boolean
  fails_on_error: boolean | null
  capture: Capture
  run_seconds: number
  refund_on_failure: boolean
  embed_origins: string[]
  notify_sale: boolean
  notify_failure: boolean
  trial_runs: number
  trials_per_day: number
  plans: Plan<string>[]
  chat: Chat | null
  source_instance: string | null
  source_workflow: string | null
  source_node: string | null
  version: number
  paused_at: Date | null
  expired_at: Date | null
  created_at: Date
  updated_at: Date
}

export function fromCheckoutRow(row: CheckoutRow): Checkout {
  const { source_instance: instanceId, source_workflow: workflowId, source_node: nodeId } = row
  const named = instanceId !== null && workflowId !== null && nodeId !== null
  return {
    id: row.id,
    owner: { userId: row.user_id, environment: row.environment },
    state: row.state,
    lifetime: row.lifetime,
    leasedUntil: row.leased_until,
    callbackUrl: row.callback_url === '' ? null : row.callback_url,
    after: row.after ?? { kind: 'webhook' },
    picture: row.picture,
    product: { name: row.product_name, description: row.product_description },
    price: usdc(row.price),
    pricing: fromStoredPricing(row.pricing),
    coupons: row.coupons,
    network: row.network,
    recipient: row.recipient,
    fields: row.fields,
    redirectUrl: row.redirect_url,
    testMode: row.test_mode,
    responseMode: row.response_mode,
    preflight: row.preflight,
    onUnconfirmed: row.redeliver_unconfirmed ? 'redeliver' : 'hold',
    onError: row.fails_on_error === null ? null : row.fails_on_error ? 'fail' : 'retry',
    capture: row.capture,
    runSeconds: row.run_seconds,
    refundOnFailure: row.refund_on_failure,
    embedOrigins: row.embed_origins,
    notify: { sale: row.notify_sale, failure: row.notify_failure },
    trialRuns: row.trial_runs,
    trialsPerDay: row.trials_per_day,
    plans: plansFromStored(row.plans),
    chat: row.chat,
    source: named ? { instanceId, workflowId, nodeId } : null,
    version: row.version,
    pausedAt: row.paused_at,
    expiredAt: row.expired_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** In the order of `CHECKOUT_COLUMNS`. */
export function checkoutValues(checkout: Checkout): unknown[] {
  const { owner, product, source } = checkout
  return [
    ...[checkout.id, owner.userId, owner.environment, checkout.state, checkout.lifetime, checkout.leasedUntil],
    ...[checkout.callbackUrl ?? '', product.name, product.description, checkout.price, checkout.network],
    ...[checkout.recipient, JSON.stringify(checkout.fields), checkout.redirectUrl, checkout.testMode],
    ...[checkout.responseMode, checkout.preflight, checkout.onUnconfirmed === 'redeliver'],
    ...[source?.instanceId ?? null, source?.workflowId ?? null, source?.nodeId ?? null],
    ...[checkout.createdAt, checkout.updatedAt],
    ...[checkout.capture, checkout.runSeconds, checkout.refundOnFailure, checkout.version],
    checkout.embedOrigins,
    ...[checkout.trialRuns, checkout.trialsPerDay, JSON.stringify(plansToStored(checkout.plans))],
    ...[jsonOf(callsWorkflow(checkout) ? null : checkout.after), jsonOf(checkout.picture)],
    ...[JSON.stringify(withAmounts(checkout.pricing, String)), checkout.coupons],
    ...[checkout.notify.sale, checkout.notify.failure, jsonOf(checkout.chat)],
    checkout.onError === null ? null : checkout.onError === 'fail',
  ]
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
