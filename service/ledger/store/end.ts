import { usdc } from '../../kit/money.ts'
import { invalid } from '../../kit/errors.ts'
import type { Statements } from '../../kit/transaction.ts'
import { holdEnded, holdMissing } from '../errors.ts'
import type { Announcement } from '../../queue/model.ts'
import type { Capture, Ended, Recipient } from '../model.ts'
import { fingerprint } from './accounts.ts'

/** One hold to end: captured with the recipients of its money, or released with nothing taken. */
export interface EndRequest {
  hold: string
  hash: Buffer
  state: 'captured' | 'released'
  kind: 'capture' | 'payout' | 'release'
  amount: bigint
  shares: readonly { account: bigint; amount: bigint }[]
  revenue: bigint
  redeemed: bigint
  reference: string | null
  announcements: readonly Announcement[]
  at: Date
}

export type EndResult = { ended: Ended } | { refusal: Error }

/**
 * Ends any number of locks in one statement: each goes from open to its end once, its money to the shares,
 * the rest to revenue, what was not used back to where it came from. Locks are taken before accounts, both
 * in the order of their ids. The end's fingerprint stands on the lock itself, which is read under its row
 * lock: a replay is distinguished from a conflict even when the first end was committed a moment ago.
 */
export async function endAll(statements: Statements, asks: readonly EndRequest[]): Promise<EndResult[]> {
  const shares = asks.flatMap((ask, index) => ask.shares.map((share) => ({ place: index + 1, ...share })))
  const announced = asks.flatMap((ask, index) => ask.announcements.map((one) => ({ place: index + 1, ...one })))
  const rows = await statements.run<Row>(
    END,
    [
      asks.map((ask) => ask.hold),
      asks.map((ask) => ask.hash),
      asks.map((ask) => ask.state),
      asks.map((ask) => ask.kind),
      asks.map((ask) => ask.amount),
      asks.map((ask) => ask.revenue),
      asks.map((ask) => ask.redeemed),
      asks.map((ask) => ask.reference),
      asks.map((ask) => ask.at),
      shares.map((share) => share.place),
      shares.map((share) => share.account),
      shares.map((share) => share.amount),
      announced.map((one) => one.place),
      announced.map((one) => one.topic),
      announced.map((one) => JSON.stringify(one.payload)),
      announced.map((one) => one.dueAt ?? null),
    ],
    'ledger_end',
  )
  const byPlace = new Map(rows.map((row) => [Number(row.place), row]))
  return asks.map((ask, index) => answer(ask, byPlace.get(index + 1)))
}

/** The same end again is the same command, also with other announcements. */
export function hashOfCapture(command: Capture): Buffer {
  const shares = command.shares.flatMap((share) => [nameOf(share.to), share.amount])
  return fingerprint('capture', command.kind, command.amount, ...shares)
}

export function hashOfRelease(): Buffer {
  return fingerprint('release')
}

function nameOf(to: Recipient): string {
  return 'platform' in to ? `platform:${to.platform}` : `user:${to.userId}`
}

function answer(ask: EndRequest, row: Row | undefined): EndResult {
  if (row === undefined) throw new Error('the end statement left an ask without a row')
  switch (row.outcome) {
    case 'ended':
      return { ended: { captured: usdc(ask.amount), replayed: false } }
    case 'replayed':
      return { ended: { captured: usdc(row.captured ?? 0n), replayed: true } }
    case 'missing':
      return { refusal: holdMissing(ask.hold) }
    case 'too_much':
      return { refusal: invalid({ amount: 'must not be more than the lock' }) }
    case 'not_shareable':
      return { refusal: invalid({ shares: 'must not be paid from credits' }) }
    case 'other_end':
      return { refusal: holdEnded(ask.hold, row.state ?? 'ended') }
  }
}

interface Row {
  place: bigint
  outcome: 'ended' | 'replayed' | 'missing' | 'too_much' | 'not_shareable' | 'other_end'
  state: string | null
  captured: bigint | null
}

export const END = `
WITH ask AS (
  SELECT * FROM unnest($1::text[], $2::bytea[], $3::ledger_hold_state[], $4::ledger_movement_kind[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::timestamptz[])
    WITH ORDINALITY AS t(hold, hash, state, kind, amount, revenue, redeemed, reference, at, place)
), share AS (
  SELECT * FROM unnest($10::bigint[], $11::bigint[], $12::bigint[]) AS t(place, account, amount)
), held AS MATERIALIZED (
  SELECT * FROM ledger_hold WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
), judged AS (
  SELECT ask.*, h.wallet_id, h.credits_id, h.from_credits, h.amount - h.from_credits AS from_wallet, h.state AS was, h.captured,
         least(ask.amount, h.from_credits) AS used_credits,
         ask.amount - least(ask.amount, h.from_credits) AS used_wallet,
         s.amount AS shared,
         CASE
           WHEN h.id IS NULL THEN 'missing'
           WHEN h.state <> 'open' AND h.end_hash = ask.hash THEN 'replayed'
           WHEN h.state <> 'open' THEN 'other_end'
           WHEN ask.amount > h.amount THEN 'too_much'
           WHEN s.amount > ask.amount - least(ask.amount, h.from_credits) THEN 'not_shareable'
           ELSE 'ended'
         END AS outcome
  FROM ask
  LEFT JOIN held h ON h.id = ask.hold
  LEFT JOIN LATERAL (SELECT coalesce(sum(share.amount), 0)::bigint AS amount FROM share WHERE share.place = ask.place) s ON true
), done AS MATERIALIZED (
  SELECT * FROM judged WHERE outcome = 'ended'
), closed AS (
  UPDATE ledger_hold h SET state = done.state, captured = done.amount, end_hash = done.hash
  FROM done WHERE h.id = done.hold
), moved AS (
  INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
  SELECT hold || '.end', kind, hash, reference, at FROM done
), posted AS (
  INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
  SELECT hold || '.end', part.account, part.side::ledger_side, kind, sum(part.available), sum(part.locked)
  FROM done, LATERAL (
    SELECT wallet_id, 'payer', from_wallet - used_wallet, -from_wallet WHERE from_wallet > 0
    UNION ALL SELECT credits_id, 'payer', from_credits - used_credits, -from_credits WHERE from_credits > 0
    UNION ALL SELECT revenue, 'receiver', used_wallet - shared, 0 WHERE used_wallet > shared
    UNION ALL SELECT redeemed, 'receiver', used_credits, 0 WHERE used_credits > 0
    UNION ALL SELECT share.account, 'receiver', share.amount, 0 FROM share WHERE share.place = done.place AND share.amount > 0
  ) AS part(account, side, available, locked)
  GROUP BY hold, kind, part.account, part.side
), announced AS (
  INSERT INTO outbox (topic, payload, created_at, due_at)
  SELECT t.topic, t.payload, done.at, coalesce(t.due_at, done.at)
  FROM done JOIN unnest($13::bigint[], $14::text[], $15::jsonb[], $16::timestamptz[]) AS t(place, topic, payload, due_at) ON t.place = done.place
)
SELECT place, outcome, was AS state, captured FROM judged`

/** Holds past their deadline are released, the oldest first; a row that another process is ending is skipped. */
export async function expireSome(statements: Statements, now: Date, limit: number): Promise<string[]> {
  const rows = await statements.run<{ id: string }>(EXPIRE, [now, limit, fingerprint('expire')], 'ledger_expire')
  return rows.map((row) => row.id)
}

const EXPIRE = `
WITH late AS MATERIALIZED (
  SELECT id, wallet_id, credits_id, amount - from_credits AS from_wallet, from_credits FROM ledger_hold
  WHERE state = 'open' AND deadline <= $1
  ORDER BY deadline
  LIMIT $2
  FOR UPDATE SKIP LOCKED
), closed AS (
  UPDATE ledger_hold h SET state = 'expired', end_hash = $3 FROM late WHERE h.id = late.id
), moved AS (
  INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
  SELECT id || '.end', 'release', $3, NULL, $1 FROM late
), posted AS (
  INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
  SELECT id || '.end', part.account, 'payer', 'release', part.amount, -part.amount
  FROM late, LATERAL (VALUES (wallet_id, from_wallet), (credits_id, from_credits)) AS part(account, amount)
  WHERE part.amount > 0
)
SELECT id FROM late`
