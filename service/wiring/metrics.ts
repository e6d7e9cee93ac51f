import type { Figure, FigureSource } from '../api/figures.ts'
import type { Metrics } from '../api/metrics.ts'
import type { MetricQuery } from '../kit/tables.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Chains } from './chains.ts'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { Platform } from './platform.ts'
import { TABLES } from './tables.ts'

/** Metrics of the whole service for the operator: which money is in transit, what waits, and since when. */
export function openFigures(platform: Platform, { topics, networks, chains, facilitator }: MetricsDeps): void {
  const { metrics, database, clock, redis, config } = platform
  const ofDatabase = databaseMetrics(database.statements, { topics, networks })
  metrics.collect({ ...ofDatabase, read: () => ofDatabase.read(clock.now()) })
  watchPool(metrics, database.pool, config.DATABASE_POOL)
  if (redis !== null) {
    metrics.gauge('coinslot_redis_up', 'Whether Redis answers here: 1 or 0', () => (redis.status === 'ready' ? 1 : 0))
  }
  metrics.collect(headsOf(chains, () => clock.now()))
  metrics.collect({
    source: 'sponsors',
    declared: [
      { name: 'coinslot_sponsor_balance_eth', help: 'Gas balance of the sponsors', labels: ['network', 'sponsor'] },
      { name: 'coinslot_sponsor_low', help: 'Below SPONSOR_LOW_BALANCE: 1', labels: ['network', 'sponsor'] },
    ],
    async read() {
      return facilitator.gas().flatMap(({ network, sponsor, wei, low }) =>
        wei === null
          ? []
          : [
              { name: 'coinslot_sponsor_balance_eth', labels: { network, sponsor }, value: Number(wei) / 1e18 },
              { name: 'coinslot_sponsor_low', labels: { network, sponsor }, value: low ? 1 : 0 },
            ],
      )
    },
  })
}

/** The metrics of all parts' tables, read by one statement. */
export function databaseMetrics(
  statements: Statements,
  { topics, networks }: { topics: readonly string[]; networks: readonly string[] },
) {
  const queries = [...TABLES.flatMap(({ metrics }) => metrics ?? []), CONNECTIONS]
  const declared = queries.flatMap((query) => query.declared)
  const text = statementOf(queries)
  return {
    source: 'database',
    declared,
    read: async (now: Date) => toFigures(await statements.run<Row>(text, [now, topics, networks], 'metrics'), declared),
  }
}

function toFigures(rows: readonly Row[], all: MetricQuery['declared']): Figure[] {
  return rows.flatMap(({ name, one, other, value }) => {
    const declared = all.find((figure) => figure.name === name)
    if (declared === undefined || value === null) return []
    const [first, second] = declared.labels
    const labels = {
      ...(first === undefined ? {} : { [first]: one ?? '' }),
      ...(second === undefined ? {} : { [second]: other ?? '' }),
    }
    return [{ name, labels, value }]
  })
}

interface MetricsDeps {
  topics: readonly string[]
  /** Those whose deposits are looked for. */
  networks: readonly string[]
  chains: Chains
  facilitator: Facilitator
}

interface Row {
  name: string
  one: string | null
  other: string | null
  value: number | null
}

/** Each query reads only its own tables; together they cost one round trip. */
function statementOf(queries: readonly MetricQuery[]): string {
  const shares = queries.map(({ sql }) => `SELECT * FROM (${sql}) AS share(name, one, other, value)`)
  return `SELECT name, one, other, value::float8 AS value FROM (${shares.join('\nUNION ALL ')}) AS metric`
}

const CONNECTIONS: MetricQuery = {
  declared: [
    { name: 'coinslot_database_connections', help: 'Connections to this database, from all processes', labels: [] },
    { name: 'coinslot_database_connections_max', help: 'Most connections that the server accepts', labels: [] },
  ],
  sql: `SELECT 'coinslot_database_connections', NULL, NULL, count(*)::float8
  FROM pg_stat_activity WHERE datname = current_database()
UNION ALL SELECT 'coinslot_database_connections_max', NULL, NULL, current_setting('max_connections')::float8`,
}

function watchPool(
  metrics: Metrics,
  pool: { totalCount: number; idleCount: number; waitingCount: number },
  most: number,
): void {
  const of = 'Connections of the pool of this process'
  metrics.gauge('coinslot_database_pool_busy', `${of}: in use`, () => pool.totalCount - pool.idleCount)
  metrics.gauge('coinslot_database_pool_idle', `${of}: idle`, () => pool.idleCount)
  metrics.gauge('coinslot_database_pool_waiting', `Requests that wait for one of them`, () => pool.waitingCount)
  metrics.gauge('coinslot_database_pool_max', `${of}: DATABASE_POOL`, () => most)
}

/** A network whose RPCs are unavailable has no value, and does not delay the others. */
function headsOf(chains: Chains, now: () => Date): FigureSource {
  return {
    source: 'chain',
    declared: [
      {
        name: 'coinslot_chain_head_age_seconds',
        help: 'Age of the newest block that the RPCs know',
        labels: ['network'],
      },
      { name: 'coinslot_chain_up', help: 'Whether an RPC of the network answers: 1 or 0', labels: ['network'] },
    ],
    async read() {
      const asked = [...chains.byNetwork.values()].map(async (chain) => {
        const network = chain.network.name
        const head = await Promise.race([chain.head().catch(() => null), soon()])
        if (head === null) return [{ name: 'coinslot_chain_up', labels: { network }, value: 0 }]
        const age = Math.max(0, now().getTime() / 1000 - Number(head.timestamp))
        return [
          { name: 'coinslot_chain_up', labels: { network }, value: 1 },
          { name: 'coinslot_chain_head_age_seconds', labels: { network }, value: age },
        ]
      })
      return (await Promise.all(asked)).flat()
    },
  }
}

function soon(): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(() => {
      resolve(null)
    }, HEAD_PATIENCE_MS).unref()
  })
}

const HEAD_PATIENCE_MS = 1_500
