import { isDeepStrictEqual } from 'node:util'
import { usdc } from '../../kit/money.ts'
import type { Sale } from '../../sales/model.ts'
import type { Checkout, Shown } from '../model.ts'

/** How many versions of a checkout are kept. Payments of older ones are shown as the oldest that is left. */
export const VERSIONS_MAX = 100

function shownOf(checkout: Shown): Shown {
  const { product, price, network, recipient, fields, redirectUrl } = checkout
  const { responseMode, capture, runSeconds, refundOnFailure } = checkout
  const offer = { product, price, network, recipient, fields, redirectUrl }
  return { ...offer, responseMode, capture, runSeconds, refundOnFailure }
}

/** The checkout after a change, with a version of its own if buyers see the difference. */
export function versioned(before: Checkout, after: Checkout): Checkout {
  const isAlike = isDeepStrictEqual(shownOf(before), shownOf(after))
  return { ...after, version: isAlike ? before.version : before.version + 1 }
}

/** The checkout as a buyer was shown it: with today's workflow behind it. */
export function asShown(checkout: Checkout, version: number, shown: Shown): Checkout {
  return { ...checkout, ...shown, version }
}

/** The version that was bought. Null for a sale of an earlier release. */
export function versionOf({ details }: Pick<Sale, 'details'>): number | null {
  const { version } = details
  return typeof version === 'number' ? version : null
}

/** JSON has no bigint. */
export function toStored(checkout: Shown): string {
  const shown = shownOf(checkout)
  return JSON.stringify({ ...shown, price: String(shown.price) })
}

export function fromStored(stored: StoredShown): Shown {
  return shownOf({ ...stored, price: usdc(BigInt(stored.price)) })
}

export type StoredShown = Omit<Shown, 'price'> & { price: string }
