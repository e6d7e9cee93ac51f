import { usdc, type Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import { movementConflict, unaffordable, walletMissing } from '../errors.ts'
import type { Hold, Reserve } from '../model.ts'
import { decide } from '../rules.ts'
import type { PersonalAccounts } from './accounts.ts'
import { fingerprint } from './accounts.ts'

/** One hold to take, with the accounts looked up. */
export interface ReserveRequest {
  command: Reserve
  accounts: PersonalAccounts
  at: Date
}

/** `askAgain`: not refused, but this statement could not decide; the next one can. */
export type ReserveResult = { hold: Hold } | { askAgain: true } | { refusal: Error }

/**
 * Takes any number of locks in one statement. The accounts are locked in the order of their ids, so the
 * balances are the newest ones; a movement of the same id that another process commits meanwhile is not seen but
 * collides on the primary key, and then the requests are tried again one by one.
 */
export async function reserveAll(
  statements: Statements,
  asks: readonly ReserveRequest[],
  durability: Reserve['durability'] = 'sync',
): Promise<ReserveResult[]> {
  const rows = await statements.run<Row>(
    durability === 'async' ? RESERVE_ASYNC : RESERVE,
    [
      asks.map(({ command }) => command.id),
      asks.map(({ command }) => hashOf(command)),
      asks.map(({ accounts }) => accounts.wallet),
      asks.map(({ command, accounts }) => (command.useCredits ? accounts.credits : null)),
      asks.map(({ command }) => command.amount),
      asks.map(({ command }) => command.deadline),
      asks.map(({ command }) => command.reference),
      asks.map(({ at }) => at),
    ],
    durability === 'async' ? 'ledger_reserve_async' : 'ledger_reserve',
  )
  const byPlace = new Map(rows.map((row) => [Number(row.place), row]))
  const judged = asks.map((ask, index) => judge(ask.command, byPlace.get(index + 1)))
  if (judged.some((answer) => 'tooDear' in answer)) return await withoutFalseRefusals(statements, judged)
  return judged as ReserveResult[]
}

/**
 * The same lock may have been taken by another process while this statement waited for the wallet: then the
 * balance that it saw is the one after, and its view of movements the one before. So a refusal counts only
 * when a later view does not know the movement either.
 */
async function withoutFalseRefusals(
  statements: Statements,
  judged: readonly (ReserveResult | TooDear)[],
): Promise<ReserveResult[]> {
  const ids = judged.flatMap((answer) => ('tooDear' in answer ? [`${answer.tooDear.id}.reserve`] : []))
  const found = await statements.run<{ id: string }>(
    'SELECT id FROM ledger_movement WHERE id = ANY ($1::text[])',
    [ids],
    'ledger_reserved',
  )
  const taken = new Set(found.map(({ id }) => id))
  return judged.map((answer) => {
    if (!('tooDear' in answer)) return answer
    const { id, amount } = answer.tooDear
    return taken.has(`${id}.reserve`) ? { askAgain: true } : { refusal: unaffordable(amount, answer.left) }
  })
}

/** Refused by what the statement saw. */
interface TooDear {
  tooDear: Reserve
  left: Usdc
}

function judge(command: Reserve, row: Row | undefined): ReserveResult | TooDear {
  if (row === undefined) throw new Error('the reserve statement left an ask without a row')
  if (row.same === false) return { refusal: movementConflict(command.id) }
  if (row.same === true) return { hold: holdOf(command, row.known_from_credits) }
  if (row.left_over === null) return { refusal: walletMissing() }
  const left = usdc(row.left_over)
  switch (decide(row.from_credits !== null, command.amount, left)) {
    case 'accepted':
      return { hold: holdOf(command, row.from_credits) }
    case 'refused':
      return { tooDear: command, left }
    case 'retry':
      return { askAgain: true }
  }
}

function holdOf(command: Reserve, fromCredits: bigint | null): Hold {
  return { id: command.id, amount: command.amount, fromCredits: usdc(fromCredits ?? 0n) }
}

function hashOf(command: Reserve): Buffer {
  const { owner, amount, useCredits, reference } = command
  // The deadline is left out: a retry of the same run may well ask with a later one.
  return fingerprint('reserve', owner.userId, owner.environment, amount, useCredits, reference)
}

interface Row {
  place: bigint
  same: boolean | null
  known_from_credits: Usdc | null
  from_credits: bigint | null
  left_over: bigint | null
}

// OFFSET 0 keeps the two look-ups as they are written, one probe of an index each: joined freely they became a
// scan of all locks in the plan of a young database, kept until the next analysis, at a third of the pace.
export const RESERVE = `
WITH ask AS (
  SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::text[], $8::timestamptz[])
    WITH ORDINALITY AS t(hold, hash, wallet, credits, amount, deadline, reference, at, place)
), funds AS MATERIALIZED (
  SELECT id, available FROM ledger_account
  WHERE id = ANY ($3::bigint[] || $4::bigint[])
  ORDER BY id
  FOR NO KEY UPDATE
), known AS (
  SELECT ask.place, m.input_hash = ask.hash AS same, h.from_credits
  FROM ask
  JOIN LATERAL (SELECT input_hash FROM ledger_movement WHERE id = ask.hold || '.reserve' OFFSET 0) m ON true
  JOIN LATERAL (SELECT from_credits FROM ledger_hold WHERE id = ask.hold OFFSET 0) h ON true
), judged AS (
  SELECT ask.*, coalesce(c.available, 0) AS credits_room, w.available + coalesce(c.available, 0) AS room,
         sum(ask.amount) OVER (PARTITION BY ask.wallet ORDER BY ask.place) AS running
  FROM ask
  JOIN funds w ON w.id = ask.wallet
  LEFT JOIN funds c ON c.id = ask.credits
  WHERE NOT EXISTS (SELECT FROM known WHERE known.place = ask.place)
), accepted AS MATERIALIZED (
  SELECT *, (least(running, credits_room) - least(running - amount, credits_room))::bigint AS from_credits
  FROM judged
  WHERE running <= room
), moved AS (
  INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
  SELECT hold || '.reserve', 'reserve', hash, reference, at FROM accepted
), held AS (
  INSERT INTO ledger_hold (id, wallet_id, credits_id, amount, from_credits, deadline)
  SELECT hold, wallet, credits, amount, from_credits, deadline FROM accepted
), posted AS (
  INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
  SELECT hold || '.reserve', part.account, 'payer', 'reserve', -part.amount, part.amount
  FROM accepted, LATERAL (VALUES (wallet, amount - from_credits), (credits, from_credits)) AS part(account, amount)
  WHERE part.amount > 0
), taken AS (
  SELECT wallet, sum(amount) AS amount FROM accepted GROUP BY wallet
)
SELECT ask.place, known.same, known.from_credits AS known_from_credits, accepted.from_credits,
       (judged.room - coalesce(taken.amount, 0))::bigint AS left_over
FROM ask
LEFT JOIN known ON known.place = ask.place
LEFT JOIN judged ON judged.place = ask.place
LEFT JOIN accepted ON accepted.place = ask.place
LEFT JOIN taken ON taken.wallet = ask.wallet`

// The commit of its transaction does not wait for the disk; so it must be alone in it. What commits later and does wait
// takes it along, for the log is written in order.
const RESERVE_ASYNC = `${RESERVE}
WHERE (SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL`
