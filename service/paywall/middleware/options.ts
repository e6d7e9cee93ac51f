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
  /**
   * The public origin of this server, like `https://api.example.com`, for routes with a sign-in. The host in a request is
   * no proof of it: another site could pass on a sign-in that was signed for itself.
   */
  origin?: string
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
  /** Who has paid for a path may sign in by wallet instead of paying again, for this long. It needs `origin`. */
  signIn?: { seconds: number }
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
  origin: string | null
  milestones: readonly Usdc[]
}

const options = z
  .object({
    routes: terms.routes,
    recipient: terms.recipient.unwrap(),
    network: terms.network,
    name: terms.name.default('API'),
    milestones: terms.milestones.default([]),
    origin: z
      .string()
      .refine((text) => URL.canParse(text) && new URL(text).origin === text, 'must be an origin: https:// and a host')
      .nullable(),
  })
  .superRefine(({ routes, origin }, context) => {
    if (origin !== null || routes.every(({ signIn }) => signIn === null)) return
    context.addIssue({ code: 'custom', path: ['origin'], message: 'is required where a route has signIn' })
  })

/** An invalid option stops the start, and the error names the field. */
export function readOptions({ routes, recipient, network, name, milestones, origin = '' }: GivenOptions): ReadOptions {
  const read = options.safeParse({
    routes: routes.map((route) => ({ method: 'GET', ...route })),
    recipient,
    network,
    name,
    milestones,
    origin: origin === '' ? null : origin,
  })
  if (read.success) return read.data
  const faults = read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  throw new Error(`The paywall's options are wrong: ${faults.join('; ')}.`)
}
