import { usdc } from '../../kit/money.ts'
import { movementConflict, unaffordable } from '../errors.ts'
import type { Transfer } from '../model.ts'
import { fingerprint } from './accounts.ts'
import type { Writing } from './credit.ts'

/** Pays others from a wallet at once, or throws `unaffordable`; what the shares leave is revenue. */
export async function transfer({ statements, accounts, inside }: Writing, command: Transfer, at: Date): Promise<void> {
  const { owner, amount, shares, reference } = command
  const { wallet } = await accounts.of(owner, inside)
  const revenue = await accounts.ofPlatform(owner.environment, 'revenue', inside)
  const to: bigint[] = []
  for (const share of shares) to.push(await accounts.recipient(share.to, owner.environment, inside))
  const amounts = shares.map((share) => share.amount)
  const named = shares.flatMap((share) => [
    'platform' in share.to ? `platform:${share.to.platform}` : `user:${share.to.userId}`,
    share.amount,
  ])
  const hash = fingerprint('transfer', owner.userId, owner.environment, amount, reference, ...named)
  const values = [command.id, hash, reference, at, wallet, amount, revenue, to, amounts]
  for (let attempt = 1; attempt <= 2; attempt++) {
    const [row] = await (inside ?? statements).run<Row>(TRANSFER, values, 'ledger_transfer')
    if (row === undefined) throw new Error('the transfer statement gave no row')
    if (row.same === false) throw movementConflict(command.id)
    if (row.same === true || row.moved) return
    // Only the second look counts: the first may have seen the balance after this very transfer, made by
    // another process, without seeing the transfer.
    if (attempt === 2 && row.available < amount) throw unaffordable(amount, usdc(row.available))
  }
  throw new Error('the transfer statement neither wrote nor found its movement')
}

interface Row {
  same: boolean | null
  moved: boolean
  available: bigint
}

const TRANSFER = `
WITH locked AS MATERIALIZED (
  SELECT id, available FROM ledger_account WHERE id = ANY (ARRAY[$5::bigint, $7::bigint] || $8::bigint[]) ORDER BY id FOR NO KEY UPDATE
), account AS (
  SELECT available FROM locked WHERE id = $5
), moved AS (
  INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
  SELECT $1, 'transfer', $2, $3, $4 FROM account
  WHERE available >= $6 AND NOT EXISTS (SELECT FROM ledger_movement WHERE id = $1)
  ON CONFLICT (id) DO NOTHING
  RETURNING id
), posted AS (
  INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
  SELECT moved.id, part.account, part.side::ledger_side, 'transfer', sum(part.amount), 0
  FROM moved, (
    SELECT $5::bigint, 'payer', -$6::bigint
    UNION ALL SELECT t.account, 'receiver', t.amount FROM unnest($8::bigint[], $9::bigint[]) AS t(account, amount) WHERE t.amount > 0
    UNION ALL SELECT $7::bigint, 'receiver', $6::bigint - s.shared
      FROM (SELECT coalesce(sum(x), 0)::bigint AS shared FROM unnest($9::bigint[]) AS x) s WHERE s.shared < $6
  ) AS part(account, side, amount)
  GROUP BY moved.id, part.account, part.side
)
SELECT (SELECT input_hash = $2 FROM ledger_movement WHERE id = $1) AS same,
       EXISTS (SELECT FROM moved) AS moved,
       (SELECT available FROM account) AS available`
