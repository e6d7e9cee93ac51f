import { leastId, type Id } from '../../../kit/ids.ts'
import { usdc } from '../../../kit/money.ts'
import { byId, totalOf } from '../../../kit/total.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { CustomerRun, Run, RunState, RunSummary } from '../../model/run.ts'
import type { RunAsker, RunDay, RunFilter } from '../../ports/run.ts'
import {
  fromCustomerRow,
  fromRow,
  fromSummaryRow,
  OF_CUSTOMER,
  SUMMARY,
  WHOLE,
  type CustomerRow,
  type SummaryRow,
  type WholeRow,
} from './rows.ts'

export async function findRun(statements: Statements, id: Id<'run'>): Promise<Run | null> {
  const [row] = await statements.run<WholeRow>(`SELECT ${WHOLE} FROM run WHERE id = $1`, [id], 'run_find')
  return row === undefined ? null : fromRow(row)
}

/** Another user's run is not found, nor is another agent's, and takes as long. */
export async function findRunOf(
  statements: Statements,
  { owner, agentId }: RunAsker,
  id: Id<'run'>,
): Promise<Run | null> {
  const [row] = await statements.run<WholeRow>(
    `SELECT ${WHOLE} FROM run WHERE id = $1 AND user_id = $2 AND environment = $3::environment
       AND ($4::text IS NULL OR agent_id = $4)`,
    [id, owner.userId, owner.environment, agentId],
    'run_find_of',
  )
  return row === undefined ? null : fromRow(row)
}

/** Newest first: ids begin with the moment at which they were made. */
export async function listRuns(
  statements: Statements,
  { owner, agentId }: RunAsker,
  filter: RunFilter,
): Promise<{ runs: RunSummary[]; total: number }> {
  const values = [owner.userId, owner.environment, filter.state, filter.rda, agentId]
  const [rows, total] = await Promise.all([
    statements.run<SummaryRow>(
      `SELECT ${SUMMARY} FROM run ${MINE} ORDER BY id DESC LIMIT $6 OFFSET $7`,
      [...values, filter.limit, filter.offset],
      'run_list',
    ),
    countRuns(statements, values),
  ])
  return { runs: rows.map(fromSummaryRow), total }
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

/** Newest first. The creator's own runs are in their own list. */
export async function listCustomerRuns(
  statements: Statements,
  { userId, environment }: Owner,
  rda: Id<'rda'>,
  { state, limit, offset }: Omit<RunFilter, 'rda'>,
): Promise<{ runs: CustomerRun[]; total: number }> {
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
  return { runs: rows.map(fromCustomerRow), total }
}

async function countCustomerRuns(statements: Statements, values: readonly unknown[]): Promise<number> {
  const [row] = await statements.run<{ total: bigint }>(
    `SELECT count(*) AS total FROM ${BY_CUSTOMERS} AND status = $4::run_status`,
    values,
    'run_count_customers',
  )
  return Number(row?.total ?? 0n)
}

const BY_CUSTOMERS = 'run WHERE owner_id = $1 AND environment = $2::environment AND rda_id = $3 AND user_id <> owner_id'

/** Ids begin with the moment at which they were made: the index on them finds the days. */
export async function runDays(statements: Statements, owner: Owner, since: Date): Promise<RunDay[]> {
  const rows = await statements.run<{ day: string; status: RunState; runs: bigint; cost: bigint }>(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, status, count(*) AS runs,
            sum(cost)::bigint AS cost
     FROM run WHERE user_id = $1 AND environment = $2::environment AND id >= $3
     GROUP BY 1, 2 ORDER BY 1, 2`,
    [owner.userId, owner.environment, leastId('run', since)],
    'run_days',
  )
  return rows.map(({ day, status, runs, cost }) => ({ day, state: status, runs: Number(runs), cost: usdc(cost) }))
}

export async function statesOf(
  statements: Statements,
  ids: readonly Id<'run'>[],
): Promise<ReadonlyMap<Id<'run'>, RunState>> {
  const rows = await statements.run<{ id: Id<'run'>; status: RunState }>(
    'SELECT id, status FROM run WHERE id = ANY ($1::text[])',
    [ids],
    'run_states',
  )
  return new Map(rows.map(({ id, status }) => [id, status]))
}
