import { isDeepStrictEqual } from 'node:util'
import { usdc } from '../../kit/money.ts'
import type { Sale } from '../../sales/model.ts'
import { plansFromStored, plansToStored, type Plan } from '../../passes/model.ts'
import type { Checkout, Pricing, Shown } from '../model.ts'
import { withAmounts } from './price.ts'

/** How many versions of a checkout are kept. Payments of older ones are shown as the oldest that is left. */
export const VERSIONS_MAX = 100

function shownOf(checkout: Shown): Shown {
  const { product, price, pricing, coupons, network, recipient, fields, redirectUrl } = checkout
  const { responseMode, capture, runSeconds, refundOnFailure, trialRuns, plans, after, chat } = checkout
  const offer = { product, price, pricing, coupons, network, recipient, fields, redirectUrl }
  return { ...offer, responseMode, capture, runSeconds, refundOnFailure, trialRuns, plans, after, chat }
}

/** The checkout after a change, with a version of its own if buyers see the difference. */
export function versioned(before: Checkout, after: Checkout): Checkout {
  const isAlike = isDeepStrictEqual(shownOf(before), shownOf(after))
  return { ...after, version: isAlike ? before.version : before.version + 1 }
}

/** The checkout as a buyer was shown it: with today's workflow behind it. */
export function asShown(checkout: Checkout, version: number, shown: Shown): Checkout {
  return { ...checkout, ...shown, version, networkNow: checkout.network }
}

/** The version that was bought. Null for a sale of an earlier release. */
export function versionOf({ details }: Pick<Sale, 'details'>): number | null {
  const { version } = details
  return typeof version === 'number' ? version : null
}

/** JSON has no bigint. */
export function toStored(checkout: Shown): string {
  const shown = shownOf(checkout)
  const amounts = { price: String(shown.price), pricing: withAmounts(shown.pricing, String) }
  return JSON.stringify({ ...shown, ...amounts, plans: plansToStored(shown.plans) })
}

export function fromStored(stored: StoredShown): Shown {
  // Versions of an earlier release have one price and no plans, take no codes, and all called a workflow.
  const {
    pricing = { kind: 'fixed' },
    coupons = false,
    trialRuns = 0,
    plans = [],
    after = { kind: 'webhook' },
    chat = null,
  } = stored
  const amounts = { price: usdc(BigInt(stored.price)), pricing: fromStoredPricing(pricing) }
  return shownOf({ ...stored, ...amounts, coupons, trialRuns, plans: plansFromStored(plans), after, chat })
}

export function fromStoredPricing(stored: Pricing<string>): Pricing {
  return withAmounts(stored, (text) => usdc(BigInt(text)))
}

export type StoredShown = Omit<Shown, 'price' | 'pricing' | 'coupons' | 'plans' | 'trialRuns' | 'after' | 'chat'> & {
  price: string
  pricing?: Pricing<string>
  coupons?: boolean
  trialRuns?: number
  plans?: readonly Plan<string>[]
  after?: Shown['after']
  chat?: Shown['chat']
}
