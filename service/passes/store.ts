import { withOwner, fromRow, type RowOf } from '../kit/rows.ts'
import { DAY_MS, type Difference, differencesBy, newestMarks, type Tables } from '../kit/tables.ts'
import type { Owner } from '../kit/owner.ts'
import type { StatementPool, Statements } from '../kit/transaction.ts'
import { leastId, timeOf, type Id } from '../kit/ids.ts'
import type { Pass } from './model.ts'
import { earliestUse } from './rules.ts'
import type { PassStore } from './ports.ts'

/** Passes and trials in PostgreSQL. Each count is one conditional statement, so it holds however many come at once. */
export function createPassStore(statements: StatementPool): PassStore {
  async function all(on: Statements, text: string, values: readonly unknown[], name: string): Promise<Pass[]> {
    return (await on.run<PassRow>(text, values, name)).map(fromPassRow)
  }
  async function one(on: Statements, text: string, values: readonly unknown[], name: string): Promise<Pass | null> {
    return (await all(on, text, values, name))[0] ?? null
  }
  async function did(on: Statements, text: string, values: readonly unknown[], name: string): Promise<boolean> {
    return (await on.run(text, values, name)).length > 0
  }

  return {
    ...trials(statements),
    inTransaction: (work) => statements.together(work),
    find: (id, on = statements) => one(on, 'SELECT * FROM pass WHERE id = $1', [id], 'pass_find'),
    byToken: (hash) => one(statements, 'SELECT * FROM pass WHERE token_hash = $1', [hash], 'pass_by_token'),
    usableBy: ({ checkoutId, holder, simulated, network }, now) =>
      one(statements, USABLE, [checkoutId, holder, simulated, network, now], 'pass_usable'),

    async ofSales(ids) {
      const rows = await statements.run<PassRow & { sale_id: string }>(OF_SALES, [ids], 'pass_of_sales')
      return new Map(rows.map(({ sale_id: saleId, ...row }) => [saleId, fromPassRow(row)]))
    },

    async findAll(ids) {
      const found = await all(statements, 'SELECT * FROM pass WHERE id = ANY($1)', [ids], 'pass_find_all')
      return new Map(found.map((pass) => [pass.id, pass]))
    },

    list: ({ userId, environment }, { checkoutId, holder, customer }, { limit, before, offset = 0 }) =>
      all(statements, LIST, [userId, environment, checkoutId, holder, customer, before, limit, offset], 'pass_list'),

    async count({ userId, environment }, { checkoutId, holder, customer }) {
      const values = [userId, environment, checkoutId, holder, customer]
      const [row] = await statements.run<{ total: bigint }>(COUNT, values, 'pass_count')
      return Number(row?.total ?? 0n)
    },

    async lockRunning(inside, { checkoutId, holder, simulated, network, planId, endsInTime, countsRuns }, now) {
      // Locks the holder and the plan even if there is no pass yet, so that two purchases at once make one.
      const lock = JSON.stringify(['pass', checkoutId, holder, planId, simulated])
      await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 15))', [lock], 'pass_lock')
      const values = [checkoutId, holder, simulated, network, planId, now, endsInTime, countsRuns]
      return await one(inside, RUNNING, values, 'pass_running')
    },

    async add(inside, pass) {
      const { id, checkoutId, owner, planId, planName, holder, simulated, network, tokenHash } = pass
      const of = [checkoutId, owner.userId, owner.environment, planId, planName, holder, simulated, network]
      const { runs, used, until, remindAt, email, createdAt } = pass
      await inside.run(ADD, [id, ...of, tokenHash, runs, used, until, remindAt, email, createdAt], 'pass_add')
    },

    extend: (inside, id, { runs, used, until, remindAt, email, planName }) =>
      one(inside, EXTEND, [id, runs, used, until, remindAt, email, planName], 'pass_extend'),

    async addSale(inside, { saleId, passId, runs, days }) {
      await inside.run(ADD_SALE, [saleId, passId, runs, days], 'pass_add_sale')
    },

    async take(inside, id, now) {
      // A refund that holds the pass is seen once it has been written.
      await inside.run('SELECT id FROM pass WHERE id = $1 FOR UPDATE', [id], 'pass_lock_one')
      return await did(inside, TAKE, [id, now], 'pass_take')
    },

    async giveBack(inside, id) {
      await inside.run('UPDATE pass SET used = used - 1 WHERE id = $1 AND used > 0', [id], 'pass_give_back')
    },

    async isUsed(inside, saleId) {
      await inside.run(LOCK_BOUGHT, [saleId], 'pass_lock_bought')
      const since = leastId('pay', earliestUse({ expiresAt: timeOf(saleId as Id<'pay'>) }))
      return await did(inside, IS_USED, [saleId, since], 'pass_is_used')
    },

    async giveFirstBack(inside, saleId, now) {
      await inside.run(GIVE_FIRST_BACK, [saleId, now], 'pass_give_first_back')
    },

    async revoke(inside, saleId, now) {
      // Two refunds at once must see each other, because the last one ends the pass.
      await inside.run(LOCK_BOUGHT, [saleId], 'pass_lock_bought')
      return await one(inside, REVOKE, [saleId, now], 'pass_revoke')
    },
    isSuspended: (inside, id) => did(inside, SUSPENDED_PASS, [id], 'pass_suspended'),
    end: (inside, { userId, environment }, id, now) => one(inside, END, [id, userId, environment, now], 'pass_end'),
    endDue: (inside, now, limit) => all(inside, END_DUE, [now, limit], 'pass_end_due'),
    takeReminders: (inside, now, limit) => all(inside, REMINDERS, [now, limit], 'pass_reminders'),
  }
}

function trials(
  statements: StatementPool,
): Pick<PassStore, 'trialsUsed' | 'takeTrial' | 'takeTrialOfDay' | 'giveTrialBack'> {
  return {
    async trialsUsed({ checkoutId, holder, simulated }) {
      const values = [checkoutId, holder, simulated]
      const [row] = await statements.run<{ used: number }>(TRIALS_USED, values, 'trial_used')
      return row?.used ?? 0
    },

    async takeTrial(inside, { checkoutId, holder, simulated }, most) {
      return (await inside.run(TAKE_TRIAL, [checkoutId, holder, simulated, most], 'trial_take')).length > 0
    },

    async takeTrialOfDay(inside, { checkoutId, day }, most) {
      return (await inside.run(TAKE_OF_DAY, [checkoutId, day, most], 'trial_take_of_day')).length > 0
    },

    async giveTrialBack(inside, { checkoutId, holder, simulated }, day) {
      // In the order in which they are taken.
      await inside.run(TRIAL_BACK, [checkoutId, holder, simulated], 'trial_give_back')
      await inside.run(DAY_BACK, [checkoutId, day], 'trial_give_day_back')
    },
  }
}

type PassRow = RowOf<Omit<Pass, 'owner'> & Owner>

function fromPassRow(row: PassRow): Pass {
  return withOwner(fromRow(row))
}

/** A payment for the pass `p` is refunded whole, or is about to be, and what it added is not taken off yet. */
const GOING_BACK = `
FROM pass_sale o JOIN sale s ON s.id = o.sale_id WHERE o.pass_id = p.id AND o.revoked_at IS NULL
  AND (s.state = 'refunded' OR (s.amount > 0 AND s.refunded >= s.amount))`

const SUSPENDED = `SELECT 1 ${GOING_BACK}`

const RUNS = `p.ended_at IS NULL AND (p.runs IS NULL OR p.used < p.runs)`

/** The sale `s` is a run of the pass `p` that was not given back. */
const RUN_OF_PASS = `s.amount = 0 AND s.details -> 'right' ->> 'kind' = 'pass' AND s.details -> 'right' ->> 'id' = p.id
  AND s.state NOT IN ('failed', 'refunded')`

const SUSPENDED_PASS = `SELECT id FROM pass p WHERE id = $1 AND EXISTS (${SUSPENDED})`

const USABLE = `
SELECT p.* FROM pass p WHERE p.checkout_id = $1 AND p.holder = $2 AND p.simulated = $3 AND p.network = $4 AND ${RUNS}
  AND (p.until IS NULL OR p.until > $5) AND NOT EXISTS (${SUSPENDED})
ORDER BY p.until NULLS LAST, p.id LIMIT 1`

const OF_SALES = `SELECT b.sale_id, p.* FROM pass_sale b JOIN pass p ON p.id = b.pass_id WHERE b.sale_id = ANY($1)`

// Both ways to name a customer have an index on sales.
const OF_CUSTOMER = `
  SELECT b.pass_id FROM sale s JOIN pass_sale b ON b.sale_id = s.id WHERE s.user_id = $1 AND s.environment = $2::environment
    AND (lower(s.details #>> '{receipt,email}') = $5 OR s.payer = $5 AND s.details #>> '{receipt,email}' IS NULL)`

const OF_OWNER = `user_id = $1 AND environment = $2::environment
  AND ($3::text IS NULL OR checkout_id = $3) AND ($4::text IS NULL OR holder = $4)
  AND ($5::text IS NULL OR id IN (${OF_CUSTOMER}))`

const LIST = `
SELECT * FROM pass WHERE ${OF_OWNER} AND ($6::text IS NULL OR id < $6) ORDER BY id DESC LIMIT $7 OFFSET $8`

const COUNT = `SELECT count(*) AS total FROM pass WHERE ${OF_OWNER}`

// What is paid now is not added to a pass that cannot be used.
const RUNNING = `
SELECT p.* FROM pass p WHERE p.checkout_id = $1 AND p.holder = $2 AND p.simulated = $3 AND p.network = $4
  AND p.plan_id = $5 AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > $6) AND (p.until IS NOT NULL) = $7::boolean
  AND (p.runs IS NOT NULL) = $8::boolean AND NOT EXISTS (${SUSPENDED})
ORDER BY p.id DESC LIMIT 1 FOR UPDATE OF p`

const ADD = `
INSERT INTO pass (id, checkout_id, user_id, environment, plan_id, plan_name, holder, simulated, network, token_hash, runs,
  used, until, remind_at, email, created_at)
VALUES ($1, $2, $3, $4::environment, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

const EXTEND = `
UPDATE pass SET runs = $2, used = $3, until = $4, remind_at = $5, email = coalesce($6, email), plan_name = $7
WHERE id = $1 RETURNING *`

const ADD_SALE = `INSERT INTO pass_sale (sale_id, pass_id, runs, days) VALUES ($1, $2, $3, $4)`

const TAKE = `
UPDATE pass p SET used = used + 1
WHERE p.id = $1 AND ${RUNS} AND (p.until IS NULL OR p.until > $2) AND NOT EXISTS (${SUSPENDED})
RETURNING id`

const LOCK_BOUGHT = `
SELECT p.id FROM pass p JOIN pass_sale b ON b.pass_id = p.id WHERE b.sale_id = $1 FOR UPDATE OF p`

// Runs of payments that go back are not there for this one. Where runs are not counted, any run since then was one of it. The
// id of a run by a wallet's proof may be up to ten minutes older than the run.
// Once the first one has come back, the plan goes on.
const IS_USED = `
SELECT b.sale_id FROM pass_sale b JOIN pass p ON p.id = b.pass_id
WHERE b.sale_id = $1 AND (b.first_run_back_at IS NOT NULL OR CASE WHEN p.runs IS NOT NULL
  THEN p.runs - p.used - (SELECT coalesce(sum(o.runs), 0) ${GOING_BACK} AND o.sale_id <> b.sale_id) < b.runs - 1
  ELSE EXISTS (SELECT FROM sale s JOIN sale plan ON plan.id = b.sale_id WHERE s.subject = p.checkout_id AND s.id > $2
    AND s.created_at >= plan.created_at AND ${RUN_OF_PASS}) END)`

const GIVE_FIRST_BACK = `
WITH back AS (
  UPDATE pass_sale SET first_run_back_at = $2 WHERE sale_id = $1 AND first_run_back_at IS NULL RETURNING pass_id
)
UPDATE pass p SET used = used - 1 FROM back WHERE p.id = back.pass_id`

// Runs that were used are not taken back. With the last payment the pass ends.
const REVOKE = `
WITH revoked AS (
  UPDATE pass_sale SET revoked_at = $2 WHERE sale_id = $1 AND revoked_at IS NULL RETURNING *
), rest AS (
  SELECT count(*) AS others FROM pass_sale b JOIN revoked r ON r.pass_id = b.pass_id
  WHERE b.revoked_at IS NULL AND b.sale_id <> r.sale_id
)
UPDATE pass p SET
  runs = CASE WHEN p.runs IS NULL THEN NULL ELSE greatest(p.used, p.runs - coalesce(r.runs, 0)) END,
  until = p.until - make_interval(days => coalesce(r.days, 0)),
  ended_at = CASE WHEN rest.others = 0 THEN coalesce(p.ended_at, $2) ELSE p.ended_at END,
  end_reason = CASE WHEN rest.others = 0 THEN coalesce(p.end_reason, 'refunded') ELSE p.end_reason END,
  remind_at = CASE WHEN rest.others = 0 THEN NULL ELSE p.remind_at - make_interval(days => coalesce(r.days, 0)) END
FROM revoked r, rest WHERE p.id = r.pass_id RETURNING p.*`

const END = `
UPDATE pass SET ended_at = $4, end_reason = 'owner', remind_at = NULL
WHERE id = $1 AND user_id = $2 AND environment = $3::environment AND ended_at IS NULL RETURNING *`

const END_DUE = `
WITH due AS (
  SELECT id FROM pass WHERE ended_at IS NULL AND until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE pass p SET ended_at = $1, end_reason = 'time', remind_at = NULL FROM due WHERE p.id = due.id RETURNING p.*`

const REMINDERS = `
WITH due AS (
  SELECT id FROM pass WHERE remind_at <= $1 ORDER BY remind_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE pass p SET remind_at = NULL FROM due WHERE p.id = due.id RETURNING p.*`

const TRIALS_USED = 'SELECT used FROM trial WHERE checkout_id = $1 AND holder = $2 AND simulated = $3'

const TAKE_TRIAL = `
INSERT INTO trial AS t (checkout_id, holder, simulated, used) VALUES ($1, $2, $3, 1)
ON CONFLICT (checkout_id, holder, simulated) DO UPDATE SET used = t.used + 1 WHERE t.used < $4 RETURNING used`

const TAKE_OF_DAY = `
INSERT INTO trial_day AS t (checkout_id, day, used) VALUES ($1, $2::date, 1)
ON CONFLICT (checkout_id, day) DO UPDATE SET used = t.used + 1 WHERE t.used < $3 RETURNING used`

const TRIAL_BACK = `
UPDATE trial SET used = used - 1 WHERE checkout_id = $1 AND holder = $2 AND simulated = $3 AND used > 0`

const DAY_BACK = `
UPDATE trial_day SET used = used - 1 WHERE checkout_id = $1 AND day = $2::date AND used > 0`

/** Every pass and trial whose count disagrees with its sales, as the check of the books names it. */
export async function findPassDifferences(statements: Statements): Promise<Difference[]> {
  return await differencesBy(statements, CHECKS)
}

// A purchase is the first run of its plan. Each counts unless it was given back.
const CHECKS = [
  `
WITH counted AS (
  SELECT p.id, p.used, (SELECT count(*) FROM pass_sale b WHERE b.pass_id = p.id AND b.first_run_back_at IS NULL) + (
    SELECT count(*) FROM sale s WHERE s.subject = p.checkout_id AND ${RUN_OF_PASS}) AS runs
  FROM pass p
)
SELECT 'pass ' || id AS subject, 'used' AS figure, used::text AS recorded, runs::text AS recomputed
FROM counted WHERE used <> runs LIMIT 1000`,
  `
WITH counted AS (
  SELECT t.*, (SELECT count(*) FROM sale s WHERE s.subject = t.checkout_id AND s.payer = t.holder AND s.amount = 0
    AND s.simulated = t.simulated AND s.details -> 'right' ->> 'kind' = 'trial'
    AND s.state NOT IN ('failed', 'refunded')) AS runs
  FROM trial t
)
SELECT 'trial of ' || holder || ' at ' || checkout_id AS subject, 'used' AS figure, used::text AS recorded,
  runs::text AS recomputed
FROM counted WHERE used <> runs LIMIT 1000`,
]

export const passTables: Tables = {
  retention: () => ({
    pass: { kept: 'money: runs that customers have paid for' },
    pass_sale: { kept: 'money: which payments have paid for them' },
    trial: { kept: 'one per wallet and checkout, bounded by the trials of a day: a trial is given once' },
    trial_day: {
      keptMs: 2 * DAY_MS,
      age: 'day',
      key: [
        ['day', 'date'],
        ['checkout_id', 'text'],
      ],
      says: 'How many trial runs a checkout has given on a day, until the day after it.',
    },
  }),
  changes: { checkouts: [newestMarks('pass', 'used, until, ended_at', 20)] },
}
