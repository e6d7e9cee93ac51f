import type { Figure, FigureSource } from '../api/figures.ts'
import type { Metrics } from '../api/metrics.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Chains } from './chains.ts'
import type { Facilitator } from '../facilitator/service.ts'
import type { Ground } from './ground.ts'

/** What an operator asks of the whole: where money is on its way, what waits, and since when. */
export function openFigures(
  ground: Ground,
  { topics, chains, facilitator }: { topics: readonly string[]; chains: Chains; facilitator: Facilitator },
): void {
  const { metrics, database, clock, redis, config } = ground
  metrics.watchAll({
    source: 'database',
    declared: DECLARED,
    read: () => readFigures(database.statements, topics, clock.now()),
  })
  watchPool(metrics, database.pool, config.DATABASE_POOL)
  if (redis !== null) {
    metrics.glance('coinslot_redis_up', 'Whether Redis answers here: 1 or 0', () => (redis.status === 'ready' ? 1 : 0))
  }
  metrics.watchAll(headsOf(chains, () => clock.now()))
  metrics.watchAll({
    source: 'sponsors',
    declared: [
      { name: 'coinslot_sponsor_balance_eth', help: 'What sponsors have for gas', labels: ['network', 'sponsor'] },
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

/** All of it in one statement, each part along an index of what is open: a history of any length costs nothing. */
export async function readFigures(statements: Statements, topics: readonly string[], now: Date): Promise<Figure[]> {
  const rows = await statements.run<Row>(FIGURES, [now, topics], 'figures')
  return rows.flatMap(({ name, one, other, value }) => {
    const declared = DECLARED.find((figure) => figure.name === name)
    if (declared === undefined || value === null) return []
    const [first, second] = declared.labels
    const labels = {
      ...(first === undefined ? {} : { [first]: one ?? '' }),
      ...(second === undefined ? {} : { [second]: other ?? '' }),
    }
    return [{ name, labels, value }]
  })
}

interface Row {
  name: string
  one: string | null
  other: string | null
  value: number | null
}

const DECLARED = [
  { name: 'coinslot_holds_open', help: 'Locks of money that are open, by what they are for', labels: ['of'] },
  { name: 'coinslot_holds_usdc', help: 'USDC that is locked, by what it is locked for', labels: ['of'] },
  {
    name: 'coinslot_hold_overdue_seconds',
    help: 'How long the oldest open lock is past its deadline; 0 while the sweeper keeps up',
    labels: [],
  },
  {
    name: 'coinslot_settlements_open',
    help: 'Authorizations that are claimed and not settled, by network and state',
    labels: ['network', 'state'],
  },
  { name: 'coinslot_settlements_usdc', help: 'USDC of settlements that are not final', labels: ['network', 'state'] },
  { name: 'coinslot_settlement_oldest_seconds', help: 'Age of the oldest unsettled one', labels: ['network'] },
  { name: 'coinslot_payments_open', help: 'Payments on their way, by where they are made', labels: ['at', 'state'] },
  { name: 'coinslot_payment_oldest_seconds', help: 'Age of the oldest of them', labels: ['at'] },
  { name: 'coinslot_withdrawals_open', help: 'Withdrawals that are not on chain, by state', labels: ['state'] },
  { name: 'coinslot_withdrawals_usdc', help: 'USDC of them', labels: ['state'] },
  { name: 'coinslot_withdrawal_oldest_seconds', help: 'Age of the oldest of them', labels: [] },
  { name: 'coinslot_runs_open', help: 'Runs that have not ended, by status', labels: ['status'] },
  { name: 'coinslot_deliveries_open', help: 'Deliveries that have not arrived, by state', labels: ['state'] },
  {
    name: 'coinslot_delivery_overdue_seconds',
    help: 'How long the next attempt of the oldest delivery is overdue; 0 while they are made in time',
    labels: [],
  },
  { name: 'coinslot_queue_oldest_due_seconds', help: 'How long the oldest due row waits, by topic', labels: ['topic'] },
  {
    name: 'coinslot_queue_lag_seconds',
    help: 'How long the oldest due row has waited for a relay to take it, by topic: the queue itself is slow',
    labels: ['topic'],
  },
  { name: 'coinslot_queue_dead', help: 'Rows that were given up, by topic', labels: ['topic'] },
  { name: 'coinslot_leases_held', help: 'Leases that somebody holds, by what they are for', labels: ['lease'] },
  {
    name: 'coinslot_deposit_monitor_lag_blocks',
    help: 'Blocks that the monitor has not read, as of its last turn',
    labels: ['network'],
  },
  {
    name: 'coinslot_deposit_monitor_silent_seconds',
    help: 'How long ago the monitor got somewhere',
    labels: ['network'],
  },
  {
    name: 'coinslot_reconciliation_age_seconds',
    help: 'How old the newest report of the books against the chain is',
    labels: ['network'],
  },
  { name: 'coinslot_database_connections', help: 'Connections to this database, from everywhere', labels: [] },
  { name: 'coinslot_database_connections_max', help: 'Connections that the server takes', labels: [] },
] as const satisfies readonly { name: string; help: string; labels: readonly string[] }[]

const AGE = (moment: string): string => `greatest(0, extract(epoch FROM $1::timestamptz - ${moment}))::float8`
/** A lock is named as what it is for; of any other name it is "other", so that no name ever becomes a label. */
const KIND_OF_HOLD = `CASE WHEN id ~ '^(run|call|pay|wdr|dlv)_' THEN split_part(id, '_', 1) ELSE 'other' END`

const FIGURES = `
WITH hold AS MATERIALIZED (
  SELECT ${KIND_OF_HOLD} AS of, count(*) AS open, sum(amount - captured) AS micro, min(deadline) AS deadline
  FROM ledger_hold WHERE state = 'open' GROUP BY 1
), settlement AS MATERIALIZED (
  SELECT network, state::text AS state, count(*) AS open, sum(value) AS micro, min(claimed_at) AS oldest
  FROM facilitator_settlement WHERE state IN ('claimed', 'signed', 'broadcast') GROUP BY 1, 2
), payment AS MATERIALIZED (
  SELECT product::text AS at, state::text AS state, count(*) AS open, min(created_at) AS oldest
  FROM sale WHERE state IN ('claimed', 'settling') AND NOT simulated GROUP BY 1, 2
  UNION ALL
  SELECT 'agent', state::text, count(*), min(created_at)
  FROM spending_payment WHERE state NOT IN ('settled', 'returned') GROUP BY 2
), withdrawal AS MATERIALIZED (
  SELECT state::text AS state, count(*) AS open, sum(amount) AS micro, min(created_at) AS oldest
  FROM wallet_withdrawal WHERE state IN ('pending', 'submitted') GROUP BY 1
), topic AS (
  SELECT topic,
    (SELECT due_at FROM outbox WHERE outbox.topic = asked.topic AND done_at IS NULL AND failed_at IS NULL
     ORDER BY due_at LIMIT 1) AS due,
    (SELECT due_at FROM outbox WHERE outbox.topic = asked.topic AND done_at IS NULL AND failed_at IS NULL
       AND (leased_until IS NULL OR leased_until <= $1::timestamptz) ORDER BY due_at LIMIT 1) AS unleased
  FROM unnest($2::text[]) AS asked(topic)
)
SELECT name, one, other, value::float8 AS value FROM (
  SELECT 'coinslot_holds_open' AS name, of AS one, NULL AS other, open::float8 AS value FROM hold
  UNION ALL SELECT 'coinslot_holds_usdc', of, NULL, (micro / 1e6)::float8 FROM hold
  UNION ALL SELECT 'coinslot_hold_overdue_seconds', NULL, NULL, coalesce(${AGE('min(deadline)')}, 0) FROM hold
  UNION ALL SELECT 'coinslot_settlements_open', network, state, open FROM settlement
  UNION ALL SELECT 'coinslot_settlements_usdc', network, state, (micro / 1e6)::float8 FROM settlement
  UNION ALL SELECT 'coinslot_settlement_oldest_seconds', network, NULL, ${AGE('min(oldest)')}
    FROM settlement GROUP BY network
  UNION ALL SELECT 'coinslot_payments_open', at, state, open FROM payment
  UNION ALL SELECT 'coinslot_payment_oldest_seconds', at, NULL, ${AGE('min(oldest)')} FROM payment GROUP BY at
  UNION ALL SELECT 'coinslot_withdrawals_open', state, NULL, open FROM withdrawal
  UNION ALL SELECT 'coinslot_withdrawals_usdc', state, NULL, (micro / 1e6)::float8 FROM withdrawal
  UNION ALL SELECT 'coinslot_withdrawal_oldest_seconds', NULL, NULL, coalesce(${AGE('min(oldest)')}, 0) FROM withdrawal
  UNION ALL SELECT 'coinslot_runs_open', status::text, NULL, count(*)
    FROM run WHERE status IN ('queued', 'running') GROUP BY status
  UNION ALL SELECT 'coinslot_deliveries_open', 'pending', NULL, count(*) FROM delivery WHERE state = 'pending'
  UNION ALL SELECT 'coinslot_deliveries_open', 'claimed', NULL, count(*) FROM delivery WHERE state = 'claimed'
  UNION ALL SELECT 'coinslot_delivery_overdue_seconds', NULL, NULL, coalesce(${AGE('min(due_at)')}, 0)
    FROM delivery WHERE state = 'pending'
  UNION ALL SELECT 'coinslot_queue_oldest_due_seconds', topic, NULL, coalesce(${AGE('due')}, 0) FROM topic
  UNION ALL SELECT 'coinslot_queue_lag_seconds', topic, NULL, coalesce(${AGE('unleased')}, 0) FROM topic
  UNION ALL SELECT 'coinslot_queue_dead', asked.topic, NULL, count(dead.topic)
    FROM unnest($2::text[]) AS asked(topic)
    LEFT JOIN (SELECT topic FROM outbox WHERE failed_at IS NOT NULL) AS dead USING (topic) GROUP BY asked.topic
  UNION ALL SELECT 'coinslot_leases_held', coalesce(substring(name FROM '^[a-z]+'), 'other'), NULL, count(*)
    FROM lease WHERE until > $1::timestamptz GROUP BY 2
  UNION ALL SELECT 'coinslot_deposit_monitor_lag_blocks', network, NULL, head - block_number FROM wallet_cursor
  UNION ALL SELECT 'coinslot_deposit_monitor_silent_seconds', network, NULL, ${AGE('at')} FROM wallet_cursor
  UNION ALL SELECT 'coinslot_reconciliation_age_seconds', asked.network, NULL, ${AGE('newest.at')}
    FROM (VALUES ('base'), ('base-sepolia')) AS asked(network)
    CROSS JOIN LATERAL (SELECT at FROM wallet_reconciliation WHERE network = asked.network ORDER BY id DESC LIMIT 1) AS newest
  UNION ALL SELECT 'coinslot_database_connections', NULL, NULL, count(*)
    FROM pg_stat_activity WHERE datname = current_database()
  UNION ALL SELECT 'coinslot_database_connections_max', NULL, NULL, current_setting('max_connections')::float8
) AS figure`

function watchPool(
  metrics: Metrics,
  pool: { totalCount: number; idleCount: number; waitingCount: number },
  most: number,
): void {
  const of = 'Connections of the pool of this process'
  metrics.glance('coinslot_database_pool_busy', `${of}: at work`, () => pool.totalCount - pool.idleCount)
  metrics.glance('coinslot_database_pool_idle', `${of}: idle`, () => pool.idleCount)
  metrics.glance('coinslot_database_pool_waiting', `Who waits for one of them`, () => pool.waitingCount)
  metrics.glance('coinslot_database_pool_max', `${of}: DATABASE_POOL`, () => most)
}

/** A network whose RPCs are away has no line, and makes the others' none the later. */
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
