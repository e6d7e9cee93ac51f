import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Id } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Offered, Paywall, Pricing, Route } from '../model.ts'

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

/** JSON numbers are not exact for amounts, so amounts are stored as text. */
export type StoredRoute = Omit<Route, 'pricing' | 'paymentIdentifier' | 'signIn'> &
  Partial<Pick<Route, 'paymentIdentifier' | 'signIn'>> & { pricing: Record<string, unknown> }

export function toStoredRoute(route: Route): StoredRoute {
  return JSON.parse(
    JSON.stringify(route, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
  ) as StoredRoute
}

export function fromStoredRoute(stored: StoredRoute): Route {
  const pricing = JSON.parse(JSON.stringify(stored.pricing), (_, value: unknown) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Pricing
  // Routes that were stored before these settings existed have none.
  return { paymentIdentifier: 'optional', signIn: null, ...stored, pricing }
}
