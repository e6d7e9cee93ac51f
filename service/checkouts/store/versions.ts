import { isId } from '../../kit/ids.ts'
import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Checkout } from '../model.ts'
import type { CheckoutStore } from '../stores.ts'
import { asShown, fromStored, type StoredShown } from '../rules/versions.ts'
import { fromCheckoutRow, type CheckoutRow } from './rows.ts'

/** Checkouts as they were in one version, which is what a buyer was shown. */
export function versions(statements: StatementPool): Pick<CheckoutStore, 'find' | 'findInside' | 'holdOpen'> {
  return {
    // A text that is not an id identifies nothing, and PostgreSQL may not even accept it as text.
    async find(id, version = null) {
      if (!isId('chk', id)) return null
      return await findShown(statements, id, version)
    },

    findInside: (inside, id, version) => findShown(inside, id, version),

    async holdOpen(inside, id, version, now) {
      const [row] = await inside.run<CheckoutRow>(HOLD_OPEN, [id, now], 'checkout_hold_open')
      return await atVersion(inside, row, version)
    },
  }
}

/** A checkout as it is, or as it was in that version. */
async function findShown(
  inside: Pick<Statements, 'run'>,
  id: string,
  version: number | null,
): Promise<Checkout | null> {
  const [row] = await inside.run<CheckoutRow>('SELECT * FROM checkout WHERE id = $1', [id], 'checkout_find')
  return await atVersion(inside, row, version)
}

async function atVersion(
  inside: Pick<Statements, 'run'>,
  row: CheckoutRow | undefined,
  version: number | null,
): Promise<Checkout | null> {
  if (row === undefined) return null
  const checkout = fromCheckoutRow(row)
  if (version === null || version === checkout.version) return checkout
  const [kept] = await inside.run<{ shown: StoredShown }>(FIND_VERSION, [row.id, version], 'checkout_find_version')
  return kept === undefined ? checkout : asShown(checkout, version, fromStored(kept.shown))
}

// Of a version that is not kept any more, the oldest that is.
const FIND_VERSION = `
SELECT shown FROM checkout_version WHERE checkout_id = $1 AND version >= $2 ORDER BY version LIMIT 1`

// The row is locked while a payment is created, so no payment starts after its checkout has expired or is paused.
const HOLD_OPEN = `
SELECT * FROM checkout WHERE id = $1 AND state = 'active' AND (leased_until IS NULL OR leased_until > $2) FOR SHARE`
