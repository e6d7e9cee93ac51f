import { z } from 'zod'
import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { terms } from '../http/bodies.ts'
import type { Route } from '../model.ts'
import type { Usdc } from '../../kit/money.ts'

/** The products, in the form of the gateway's API. */
export interface GivenOptions {
  routes: readonly GivenRoute[]
  /** The address that receives the payments. */
  recipient: string
  network: NetworkName
  name?: string
  /** Revenue levels in USDC that emit `revenue.milestone`. */
  milestones?: readonly number[]
}

export interface GivenRoute {
  /** `GET` when absent; `*` matches any method. */
  method?: string
  path: string
  pricing: GivenPricing
  description?: string
  settle?: 'after' | 'before'
  /** `required`: a payment must have an id of the extension `payment-identifier`. */
  paymentIdentifier?: 'optional' | 'required'
}

/** Amounts in USDC, at most six decimals. */
export type GivenPricing =
  | { model: 'free' }
  | { model: 'per-request'; amount: number }
  | {
      model: 'tiered'
      tiers: readonly { upTo?: number; amount: number }[]
      window: 'day' | 'week' | 'month' | 'lifetime'
    }
  | { model: 'per-token'; input: number; output: number; minimum: number; maximum: number }
  | { model: 'per-minute'; amount: number; minimum: number; maximum: number }

export interface ReadOptions {
  routes: readonly Route[]
  recipient: Address
  network: NetworkName
  name: string
  milestones: readonly Usdc[]
}

const options = z.object({
  routes: terms.routes,
  recipient: terms.recipient.unwrap(),
  network: terms.network,
  name: terms.name.default('API'),
  milestones: terms.milestones.default([]),
})

/** An invalid option stops the start, and the error names the field. */
export function readOptions({ routes, recipient, network, name, milestones }: GivenOptions): ReadOptions {
  const read = options.safeParse({
    routes: routes.map((route) => ({ method: 'GET', ...route })),
    recipient,
    network,
    name,
    milestones,
  })
  if (read.success) return read.data
  const faults = read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  throw new Error(`The paywall's options are wrong: ${faults.join('; ')}.`)
}
