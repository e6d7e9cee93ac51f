import type { Statements } from '../kit/transaction.ts'
import { KINDS } from './model.ts'
import type { ChangeStore } from './ports.ts'

/**
 * Reads the tables of all capabilities, and nothing else of them than whether a row is the same as before. Of each kind
 * the newest rows are looked at, found by the index of their list: a page shows twenty, and what still moves is new.
 */
export function createChangeStore(statements: Statements): ChangeStore {
  return {
    async marks(owners) {
      // Planned anew each time, for a few milliseconds: a plan that is kept from a young database reads whole tables.
      const rows = await statements.run<Record<string, string>>(MARKS, [
        owners.map(({ userId }) => userId),
        owners.map(({ environment }) => environment),
      ])
      return rows.map((row) => KINDS.map((kind) => row[kind] ?? ''))
    },
  }
}

const OWNED = 'user_id = o.user_id AND environment = o.environment'

/** One text over some rows, in their order. */
function over(rows: string): string {
  return `(SELECT string_agg(r.mark, ' ' ORDER BY r.id) FROM (${rows}) r)`
}

function newest(table: string, columns: string, count: number, where = OWNED): string {
  return over(
    `SELECT id::text AS id, concat_ws(',', id, ${columns}) AS mark FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT ${String(count)}`,
  )
}

/** Of each of an account's newest things the last of what belongs to it. */
function latest(table: string, of: string, things: string, columns: string): string {
  return over(`
    SELECT t.id, last.mark FROM (SELECT id FROM ${things} WHERE ${OWNED} ORDER BY id DESC LIMIT 20) t
    CROSS JOIN LATERAL (
      SELECT concat_ws(',', c.id, ${columns}) AS mark FROM ${table} c WHERE c.${of} = t.id ORDER BY c.id DESC LIMIT 1
    ) last`)
}

const TEXTS: Readonly<Record<(typeof KINDS)[number], readonly string[]>> = {
  wallet: [
    over(`SELECT id::text AS id, concat_ws(',', kind, available, locked, deposited, spent) AS mark
          FROM ledger_account WHERE owner = o.user_id AND environment = o.environment`),
    over(`SELECT id, concat_ws(',', id, state) AS mark
          FROM wallet_withdrawal WHERE ${OWNED} ORDER BY created_at DESC LIMIT 20`),
  ],
  runs: [newest('run', 'status', 50)],
  assets: [
    over(`SELECT a.id, concat_ws(',', a.id, a.updated_at, s.runs, s.revenue, s.ratings, s.rating_sum) AS mark
          FROM (SELECT id, updated_at FROM rda WHERE owner_id = o.user_id AND environment = o.environment
                ORDER BY status, rank DESC, id DESC LIMIT 100) a LEFT JOIN rda_stats s ON s.rda_id = a.id`),
  ],
  checkouts: [newest('checkout', 'state, updated_at', 100), latest('sale', 'subject', 'checkout', 'c.state')],
  deliveries: [
    newest('delivery', 'state, attempts, last_attempt_at, due_at', 50),
    newest(
      'delivery_target',
      'url, events, status, failing_since',
      100,
      `${OWNED} AND events <> '{}' AND status <> 'deleted'`,
    ),
  ],
  agents: [
    newest('spending_agent', 'status, updated_at, version, counted_at, lifetime_spent', 100),
    newest('spending_approval', 'state', 50),
    newest('spending_payment', 'state', 20),
  ],
  tools: [newest('tool_call', 'attempt, error_code', 20)],
  paywalls: [
    newest('paywall', 'updated_at, revenue, customers', 100),
    latest('sale', 'subject', 'paywall', 'c.state, c.handover'),
    over(`SELECT concat_ws(',', t.id, d.route, d.outcome) AS id, concat_ws(',', t.id, d.route, d.outcome, d.count, d.amount) AS mark
          FROM (SELECT id FROM paywall WHERE ${OWNED} ORDER BY id DESC LIMIT 20) t
          JOIN paywall_day d ON d.paywall_id = t.id AND d.day = (now() AT TIME ZONE 'UTC')::date`),
  ],
  keys: [newest('identity_api_key', 'last_used_at, revoked_at', 100)],
}

const MARKS = `
SELECT ${KINDS.map((kind) => `left(md5(concat_ws('|', ${TEXTS[kind].join(', ')})), 12) AS ${kind}`).join(',\n')}
FROM unnest($1::text[], $2::environment[]) WITH ORDINALITY AS o(user_id, environment, place)
ORDER BY o.place`
