import { usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import { balanceTooLarge, movementConflict } from '../errors.ts'
import type { Credit } from '../model.ts'
import type { Credited } from '../ports.ts'
import { fingerprint, type Accounts } from './accounts.ts'

/** Brings money in from outside, or credits from the house, once by id. Answers the balance right after it. */
export async function credit({ statements, accounts, inside }: Writing, command: Credit, at: Date): Promise<Credited> {
  const { owner, amount, kind } = command
  const own = await accounts.of(owner, inside)
  const to = kind === 'deposit' ? own.wallet : own.credits
  const from = await accounts.ofPlatform(owner.environment, kind === 'deposit' ? 'treasury' : 'grants', inside)
  const hash = fingerprint('credit', kind, owner.userId, owner.environment, amount, command.reference, command.act)
  const values = [command.id, kind, hash, command.reference, at, to, from, amount, command.ceiling ?? null]
  // Twice at most: another process may commit the same id between this statement's start and its insert.
  for (let attempt = 1; attempt <= 2; attempt++) {
    const [row] = await (inside ?? statements).run<Row>(CREDIT, values, 'ledger_credit')
    if (row === undefined) throw new Error('the credit statement gave no row')
    if (row.same === false) throw movementConflict(command.id)
    if (row.balance_then !== null) return { balanceAfter: usdc(row.balance_then), replayed: true }
    if (row.balance_now !== null) return { balanceAfter: usdc(row.balance_now), replayed: false }
    // The first look may have seen the balance after this very credit without seeing the credit.
    if (row.too_much && attempt === 2) throw balanceTooLarge()
  }
  throw new Error('the credit statement neither wrote nor found its movement')
}

/** What a movement is written with: its own statement, or inside the caller's transaction. */
export interface Writing {
  statements: Statements
  accounts: Accounts
  inside: Statements | undefined
}

interface Row {
  same: boolean | null
  balance_now: bigint | null
  balance_then: bigint | null
  too_much: boolean
}

// The accounts are locked, in the order of their ids as everywhere, before the posting takes its sequence
// number: an account's postings are numbered in the order in which they changed it, and "the balance right
// after" can be computed at any later time.
const CREDIT = `
WITH locked AS MATERIALIZED (
  SELECT id, available + locked AS balance FROM ledger_account WHERE id IN ($6, $7) ORDER BY id FOR NO KEY UPDATE
), account AS (
  SELECT balance FROM locked WHERE id = $6
), known AS (
  SELECT m.input_hash = $3 AS same, p.sequence
  FROM ledger_movement m JOIN ledger_posting p ON p.movement_id = m.id AND p.account_id = $6
  WHERE m.id = $1
), moved AS (
  INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
  SELECT $1, $2::ledger_movement_kind, $3, $4, $5 FROM account
  WHERE NOT EXISTS (SELECT FROM ledger_movement WHERE id = $1) AND ($9::bigint IS NULL OR balance + $8::bigint <= $9)
  ON CONFLICT (id) DO NOTHING
  RETURNING id
), posted AS (
  INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
  SELECT moved.id, part.account, part.side::ledger_side, $2::ledger_movement_kind, part.amount, 0
  FROM moved, (VALUES ($7::bigint, 'payer', -$8::bigint), ($6::bigint, 'receiver', $8::bigint)) AS part(account, side, amount)
)
SELECT
  coalesce((SELECT same FROM known), (SELECT m.input_hash = $3 FROM ledger_movement m WHERE m.id = $1)) AS same,
  (SELECT balance + $8::bigint FROM account, moved)::bigint AS balance_now,
  (SELECT balance - (
     SELECT coalesce(sum(available + locked), 0) FROM ledger_posting p
     WHERE p.account_id = $6 AND p.sequence > known.sequence AND p.available + p.locked <> 0
   ) FROM account, known)::bigint AS balance_then,
  (SELECT balance + $8::bigint > $9 FROM account) IS TRUE AS too_much`
