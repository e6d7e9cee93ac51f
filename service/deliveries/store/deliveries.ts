import { byId, totalOf } from '../../kit/total.ts'
import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import { withOwner } from '../../kit/rows.ts'
import type { Attempt, DeliveryView } from '../model.ts'
import type { DeliveryFilter, DeliveryStore } from '../ports.ts'
import { claiming } from './claims.ts'
import { endings } from './endings.ts'
import { fetching } from './fetching.ts'
import { writing } from './write.ts'

/** Deliveries and their attempts in PostgreSQL; this file has the owners' views. */
export function createDeliveryStore(statements: StatementPool): DeliveryStore {
  return {
    inTransaction: (work) => statements.together(work),
    ...writing(),
    ...endings(statements),
    ...claiming(statements),
    ...fetching(statements),

    async find({ userId, environment }, id) {
      const [row] = await statements.run<DetailRow>(FIND, [userId, environment, id], 'delivery_find')
      return row === undefined ? null : { ...withOwner(row), history: withDates(row.history) }
    },

    async isOpen({ userId, environment }, id) {
      const [row] = await statements.run<{ open: boolean }>(IS_OPEN, [userId, environment, id], 'delivery_is_open')
      return row?.open ?? null
    },

    async list({ userId, environment }, filter, { limit, offset }) {
      const { where, values } = toWhere(userId, environment, filter)
      const page = `LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
      // Unnamed statements, so that each is planned for its own filter.
      const [rows, total] = await Promise.all([
        statements.run<ViewRow>(`SELECT ${VIEW} FROM ${JOINED} WHERE ${where} ORDER BY d.id DESC ${page}`, [
          ...values,
          limit,
          offset,
        ]),
        countOf(statements, { userId, environment }, filter),
      ])
      return { deliveries: rows.map(withOwner), total }
    },

    async bySubject(owner, subjects) {
      const owned = owner === null ? '' : 'AND d.user_id = $2 AND d.environment = $3::environment'
      const values = owner === null ? [subjects] : [subjects, owner.userId, owner.environment]
      const rows = await statements.run<AnsweredRow>(bySubject(owned), values)
      return new Map(rows.map((row) => [row.subject, { ...withOwner(row), history: withDates(row.history) }]))
    },
  }
}

const VIEW = `d.id, d.user_id AS "userId", d.environment, d.subject, d.target_id AS target, coalesce(t.url, d.url) AS url,
  d.state, d.attempts, d.last_status AS "lastStatus", d.last_error AS "lastError", d.last_attempt_at AS "lastAttemptAt",
  d.due_at AS "nextAttemptAt", d.claimed_at AS "claimedAt", d.delivered_at AS "deliveredAt", d.created_at AS "createdAt"`

const JOINED = 'delivery d LEFT JOIN delivery_target t ON t.id = d.target_id'

// One statement sees one snapshot, so the count and the attempts agree.
const FIND = `
SELECT ${VIEW}, d.body, (
  SELECT coalesce(json_agg(json_build_object(
    'at', a.at, 'durationMs', a.duration_ms, 'status', a.status, 'error', a.error, 'answer', a.answer
  ) ORDER BY a.at, a.id), '[]')
  FROM delivery_attempt a WHERE a.delivery_id = d.id
) AS history
FROM ${JOINED} WHERE d.id = $3 AND d.user_id = $1 AND d.environment = $2::environment`

const IS_OPEN = `
SELECT t.id IS NULL OR t.status = 'enabled' AS open FROM ${JOINED}
WHERE d.id = $3 AND d.user_id = $1 AND d.environment = $2::environment`

/** Nearly all have arrived. The others have an index, so neither they nor those that arrived are counted one by one. */
async function countOf(
  statements: Statements,
  { userId, environment }: Owner,
  filter: DeliveryFilter,
): Promise<number> {
  const { where, values } = toWhere(userId, environment, filter)
  if (filter.state === null) return await countGrowing(statements, where, values)
  if (filter.state !== 'delivered') return await count(statements, where, values)
  const all = toWhere(userId, environment, { ...filter, state: null })
  const [total, others] = await Promise.all([
    countGrowing(statements, all.where, all.values),
    count(statements, `${all.where} AND d.state <> 'delivered'`, all.values),
  ])
  return Math.max(total - others, 0)
}

async function count(statements: Statements, where: string, values: readonly unknown[]): Promise<number> {
  const [row] = await statements.run<{ total: bigint }>(
    `SELECT count(*) AS total FROM delivery d WHERE ${where}`,
    values,
  )
  return Number(row?.total ?? 0n)
}

/**
 * A delivery's state changes, but its subject and target do not. Its id has the time of its payment, which may wait for
 * the chain, so rows with older ids can still appear.
 */
function countGrowing(statements: Statements, where: string, values: readonly unknown[]): Promise<number> {
  return totalOf(statements, {
    from: `delivery d WHERE ${where}`,
    values,
    ...byId('dlv', { key: 'd.id', afterMs: 86_400_000 }),
  })
}

function toWhere(userId: string, environment: Environment, { subject, state, target }: DeliveryFilter) {
  const columns = { 'd.subject': subject, 'd.state': state, 'd.target_id': target }
  const filters = Object.entries(columns).filter(([, value]) => value !== null)
  const conditions = filters.map(([column], place) => `${column} = $${place + 3}`)
  return {
    where: ['d.user_id = $1', 'd.environment = $2::environment', ...conditions].join(' AND '),
    values: [userId, environment, ...filters.map(([, value]) => value)],
  }
}

const HISTORY_MAX = 10

function bySubject(owned: string): string {
  return `
SELECT DISTINCT ON (d.subject) ${VIEW}, last.answer, tried.history
FROM ${JOINED}
LEFT JOIN LATERAL (
  SELECT a.answer FROM delivery_attempt a WHERE a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1
) AS last ON true
LEFT JOIN LATERAL (
  SELECT coalesce(json_agg(json_build_object('at', a.at, 'status', a.status, 'error', a.error) ORDER BY a.id), '[]') AS history
  FROM (
    SELECT id, at, status, error FROM delivery_attempt WHERE delivery_id = d.id ORDER BY id DESC LIMIT ${HISTORY_MAX}
  ) AS a
) AS tried ON true
WHERE d.subject = ANY($1::text[]) ${owned}
ORDER BY d.subject, d.created_at DESC, d.id DESC`
}

type ViewRow = Omit<DeliveryView, 'owner'> & Owner
/** Dates inside JSON are text. */
type Stored<Of extends { at: Date }> = Omit<Of, 'at'> & { at: string }
type DetailRow = ViewRow & { body: string; history: readonly Stored<Attempt>[] }
type AnsweredRow = ViewRow & {
  answer: string | null
  history: readonly Stored<Pick<Attempt, 'at' | 'status' | 'error'>>[]
}

function withDates<Of extends { at: string }>(history: readonly Of[]): (Omit<Of, 'at'> & { at: Date })[] {
  return history.map((attempt) => ({ ...attempt, at: new Date(attempt.at) }))
}
