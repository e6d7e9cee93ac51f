import { leastId } from '../../../kit/ids.ts'
import { byId, totalOf } from '../../../kit/total.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Buyers, CustomerRun, Run, RunState, RunSummary } from '../../model/run.ts'
import type { RunDay, RunStore } from '../../ports/run.ts'
import { fromRow, OF_CUSTOMER, SUMMARY, WHOLE, type CustomerRow, type SummaryRow, type WholeRow } from './rows.ts'

/** Lists are newest first: ids begin with the moment at which they were made. */
export function createRunReads(
  statements: Statements,
): Pick<RunStore, 'find' | 'findOf' | 'list' | 'listOfCustomers' | 'buyersOf' | 'days' | 'states'> {
  return {
    async find(id) {
      const [row] = await statements.run<WholeRow>(`SELECT ${WHOLE} FROM run WHERE id = $1`, [id], 'run_find')
      return row === undefined ? null : fromRow<Run>(row)
    },

    /** Another user's run is not found, nor is another agent's, and takes as long. */
    async findOf({ owner, agentId }, id) {
      const [row] = await statements.run<WholeRow>(
        `SELECT ${WHOLE} FROM run WHERE id = $1 AND user_id = $2 AND environment = $3::environment
           AND ($4::text IS NULL OR agent_id = $4)`,
        [id, owner.userId, owner.environment, agentId],
        'run_find_of',
      )
      return row === undefined ? null : fromRow<Run>(row)
    },

    async list({ owner, agentId }, { state, rda, limit, offset }) {
      const values = [owner.userId, owner.environment, state, rda, agentId]
      const [rows, total] = await Promise.all([
        statements.run<SummaryRow>(
          `SELECT ${SUMMARY} FROM run ${MINE} ORDER BY id DESC LIMIT $6 OFFSET $7`,
          [...values, limit, offset],
          'run_list',
        ),
        countRuns(statements, values),
      ])
      return { runs: rows.map((row) => fromRow<RunSummary>(row)), total }
    },

    /** The creator's own runs are in their own list. */
    async listOfCustomers({ userId, environment }, rda, { state, limit, offset }) {
      const values = [userId, environment, rda]
      const [rows, total] = await Promise.all([
        statements.run<CustomerRow>(
          `SELECT ${OF_CUSTOMER} FROM ${BY_CUSTOMERS} AND ($4::run_status IS NULL OR status = $4)
           ORDER BY id DESC LIMIT $5 OFFSET $6`,
          [...values, state, limit, offset],
          'run_list_customers',
        ),
        state === null
          ? totalOf(statements, { from: BY_CUSTOMERS, values, ...byId('run') })
          : countCustomerRuns(statements, [...values, state]),
      ])
      return { runs: rows.map((row) => fromRow<CustomerRun>(row)), total }
    },

    async buyersOf({ userId, environment }, rda, runs) {
      const values = [userId, environment, rda, runs]
      const [row] = await statements.run<Buyers>(BUYERS, values, 'run_buyers')
      return row ?? { buyers: 0, repeat: 0 }
    },

    /** The index on ids finds the days. */
    async days({ userId, environment }, since) {
      return await statements.run<RunDay>(
        `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, status AS state, count(*)::int AS runs,
                sum(cost)::bigint AS cost
         FROM run WHERE user_id = $1 AND environment = $2::environment AND id >= $3
         GROUP BY 1, 2 ORDER BY 1, 2`,
        [userId, environment, leastId('run', since)],
        'run_days',
      )
    },

    async states(ids) {
      const rows = await statements.run<Pick<Run, 'id'> & { status: RunState }>(
        'SELECT id, status FROM run WHERE id = ANY ($1::text[])',
        [ids],
        'run_states',
      )
      return new Map(rows.map(({ id, status }) => [id, status]))
    },
  }
}

/** All of them are counted from the index alone, which a statement for every filter is not. */
async function countRuns(statements: Statements, values: readonly unknown[]): Promise<number> {
  const [userId, environment, ...filters] = values
  if (filters.every((filter) => filter === null)) {
    const from = 'run WHERE user_id = $1 AND environment = $2::environment'
    return await totalOf(statements, { from, values: [userId, environment], ...byId('run') })
  }
  const [row] = await statements.run<{ total: bigint }>(
    `SELECT count(*) AS total FROM run ${MINE}`,
    values,
    'run_count',
  )
  return Number(row?.total ?? 0n)
}

const MINE = `
WHERE user_id = $1 AND environment = $2::environment AND ($3::run_status IS NULL OR status = $3)
  AND ($4::text IS NULL OR rda_id = $4 OR rda_slug = $4) AND ($5::text IS NULL OR agent_id = $5)`

async function countCustomerRuns(statements: Statements, values: readonly unknown[]): Promise<number> {
  const [row] = await statements.run<{ total: bigint }>(
    `SELECT count(*) AS total FROM ${BY_CUSTOMERS} AND status = $4::run_status`,
    values,
    'run_count_customers',
  )
  return Number(row?.total ?? 0n)
}

const BY_CUSTOMERS = 'run WHERE owner_id = $1 AND environment = $2::environment AND rda_id = $3 AND user_id <> owner_id'

// A guest is known by the wallet that paid.
const BUYERS = `
SELECT count(*)::int AS buyers, count(*) FILTER (WHERE runs > 1)::int AS repeat FROM (
  SELECT count(*) AS runs FROM (
    SELECT user_id, subject FROM ${BY_CUSTOMERS} AND status = 'succeeded' AND cost > 0 ORDER BY id DESC LIMIT $4
  ) newest GROUP BY user_id, subject
) buyer`
