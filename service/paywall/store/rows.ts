import type { RequestBody } from '../../x402/model.ts'
import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Id } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Offered, Payment, Paywall, Pricing, Route } from '../model.ts'

export interface PaywallRow {
  id: Id<'pwl'>
  user_id: string
  environment: Environment
  slug: string
  name: string
  upstream_url: string
  routes: StoredRoute[]
  recipient: Address | null
  network: NetworkName
  test_mode: boolean
  status: Paywall['status']
  milestones: bigint[]
  header_names: string[]
  headers_sealed: string
  secret_sealed: string
  version: number
  earlier: { routes: StoredRoute[]; recipient: Address | null; network: NetworkName; until: string }[]
  revenue: bigint
  customers: number
  created_at: Date
  updated_at: Date
}

export function fromPaywallRow(row: PaywallRow): Paywall {
  return {
    id: row.id,
    owner: { userId: row.user_id, environment: row.environment },
    slug: row.slug,
    name: row.name,
    upstreamUrl: row.upstream_url,
    upstreamHeaders: row.header_names,
    routes: row.routes.map(fromStoredRoute),
    recipient: row.recipient,
    network: row.network,
    testMode: row.test_mode,
    status: row.status,
    milestones: row.milestones.map(usdc),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function fromEarlier(row: PaywallRow): { offered: Offered; until: Date }[] {
  return row.earlier.map(({ routes, recipient, network, until }) => ({
    offered: { routes: routes.map(fromStoredRoute), recipient, network },
    until: new Date(until),
  }))
}

/** JSON holds no amounts that are exact: they are text. */
export type StoredRoute = Omit<Route, 'pricing'> & { pricing: Record<string, unknown> }

export function toStoredRoute(route: Route): StoredRoute {
  return JSON.parse(
    JSON.stringify(route, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
  ) as StoredRoute
}

export function fromStoredRoute(stored: StoredRoute): Route {
  const pricing = JSON.parse(JSON.stringify(stored.pricing), (_, value: unknown) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Pricing
  return { ...stored, pricing }
}

export interface PaymentRow {
  id: Id<'pay'>
  paywall_id: Id<'pwl'>
  user_id: string
  environment: Environment
  kind: Payment['kind']
  state: Payment['state']
  route: string
  endpoint: string
  amount: bigint
  network: NetworkName
  recipient: Address | null
  payer: Address
  simulated: boolean
  digest: Buffer | null
  request: RequestBody | null
  line_hash: Buffer
  body_hash: Buffer | null
  token_hash: Buffer | null
  window_start: Date | null
  cost: bigint | null
  tx_hash: string | null
  reason: string | null
  delivery: Payment['delivery']
  lease_until: Date | null
  expires_at: Date
  created_at: Date
  ended_at: Date | null
}

export function fromPaymentRow(row: PaymentRow): Payment {
  return {
    id: row.id,
    paywallId: row.paywall_id,
    owner: { userId: row.user_id, environment: row.environment },
    kind: row.kind,
    state: row.state,
    route: row.route,
    endpoint: row.endpoint,
    amount: usdc(row.amount),
    network: row.network,
    recipient: row.recipient,
    payer: row.payer,
    simulated: row.simulated,
    digest: row.digest === null ? null : (`0x${row.digest.toString('hex')}` satisfies Hex),
    request: row.request,
    lineHash: row.line_hash,
    bodyHash: row.body_hash,
    tokenHash: row.token_hash,
    windowStart: row.window_start,
    cost: row.cost === null ? null : usdc(row.cost),
    txHash: row.tx_hash,
    reason: row.reason,
    delivery: row.delivery,
    leaseUntil: row.lease_until,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }
}

export function paymentValues(payment: Payment, resumeAt: Date | null): unknown[] {
  const { owner } = payment
  return [
    ...[payment.id, payment.paywallId, owner.userId, owner.environment, payment.kind, payment.state, payment.route],
    ...[payment.endpoint, payment.amount, payment.network, payment.recipient, payment.payer, payment.simulated],
    ...[bytesOf(payment.digest), payment.request === null ? null : JSON.stringify(payment.request)],
    ...[payment.lineHash, payment.bodyHash, payment.tokenHash, payment.windowStart, payment.cost, payment.txHash],
    ...[payment.reason, payment.delivery, payment.leaseUntil, resumeAt, payment.expiresAt, payment.createdAt],
    payment.endedAt,
  ]
}

export function bytesOf(digest: Hex | null): Buffer | null {
  return digest === null ? null : Buffer.from(digest.slice(2), 'hex')
}
