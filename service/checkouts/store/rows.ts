import type { RequestBody } from '../../x402/model.ts'
import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Field } from '../../kit/fields.ts'
import type { Id } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Checkout, Lifetime, Payment, PaymentState, ResponseMode } from '../model.ts'
import type { Sale } from '../ports.ts'

export interface CheckoutRow {
  id: Id<'chk'>
  user_id: string
  environment: Environment
  state: Checkout['state']
  lifetime: Lifetime
  leased_until: Date | null
  callback_url: string
  product_name: string
  product_description: string | null
  price: bigint
  network: NetworkName
  recipient: Address | null
  fields: Field[]
  redirect_url: string | null
  test_mode: boolean
  response_mode: ResponseMode
  preflight: boolean
  redeliver_unconfirmed: boolean
  source_instance: string | null
  source_workflow: string | null
  source_node: string | null
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
    callbackUrl: row.callback_url,
    product: { name: row.product_name, description: row.product_description },
    price: usdc(row.price),
    network: row.network,
    recipient: row.recipient,
    fields: row.fields,
    redirectUrl: row.redirect_url,
    testMode: row.test_mode,
    responseMode: row.response_mode,
    preflight: row.preflight,
    onUnconfirmed: row.redeliver_unconfirmed ? 'redeliver' : 'hold',
    source: named ? { instanceId, workflowId, nodeId } : null,
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
    ...[checkout.callbackUrl, product.name, product.description, checkout.price, checkout.network],
    ...[checkout.recipient, JSON.stringify(checkout.fields), checkout.redirectUrl, checkout.testMode],
    ...[checkout.responseMode, checkout.preflight, checkout.onUnconfirmed === 'redeliver'],
    ...[source?.instanceId ?? null, source?.workflowId ?? null, source?.nodeId ?? null],
    ...[checkout.createdAt, checkout.updatedAt],
  ]
}

export interface PaymentRow {
  id: Id<'pay'>
  checkout_id: Id<'chk'>
  user_id: string
  environment: Environment
  state: PaymentState
  amount: bigint
  network: NetworkName
  recipient: Address | null
  payer: Address
  simulated: boolean
  digest: Buffer | null
  request: RequestBody
  input: Record<string, unknown>
  input_hash: Buffer
  token_hash: Buffer | null
  tx_hash: string | null
  reason: string | null
  created_at: Date
  ended_at: Date | null
}

export function fromPaymentRow(row: PaymentRow): Payment {
  return {
    id: row.id,
    checkoutId: row.checkout_id,
    owner: { userId: row.user_id, environment: row.environment },
    state: row.state,
    amount: usdc(row.amount),
    network: row.network,
    recipient: row.recipient,
    payer: row.payer,
    simulated: row.simulated,
    input: row.input,
    txHash: row.tx_hash,
    reason: row.reason,
    createdAt: row.created_at,
    paidAt: row.state === 'paid' ? row.ended_at : null,
  }
}

/** A payment's row with its checkout's beside it, whole, as `sold`. */
export interface SaleRow extends PaymentRow {
  sold: Omit<CheckoutRow, 'price' | DateColumn> & { price: number } & Record<DateColumn, string | null>
}

type DateColumn = (typeof DATES)[number]

/** `row_to_json` writes times as text and amounts as numbers: the latter are below 2^53 by the wire's own limit. */
export function fromSaleRow(row: SaleRow): Sale {
  const { sold } = row
  const dates = Object.fromEntries(DATES.map((name) => [name, sold[name] === null ? null : new Date(sold[name])]))
  const checkout = { ...sold, ...dates, price: BigInt(sold.price) } as unknown as CheckoutRow
  const digest: Hex | null = row.digest === null ? null : `0x${row.digest.toString('hex')}`
  return {
    payment: fromPaymentRow(row),
    checkout: fromCheckoutRow(checkout),
    authorized: digest === null ? null : { digest, request: row.request },
    inputHash: row.input_hash,
    tokenHash: row.token_hash,
  }
}

const DATES = ['leased_until', 'paused_at', 'expired_at', 'created_at', 'updated_at'] as const
