import type { Fate, Retention, RetentionDays } from './model.ts'

/** Which tables are pruned at all, and from when on back. */
export function due(fates: Readonly<Record<string, Fate>>, now: Date): Due[] {
  return Object.entries(fates).flatMap(([table, fate]) =>
    'age' in fate && fate.keptMs !== null
      ? [{ table, retention: fate, before: new Date(now.getTime() - fate.keptMs) }]
      : [],
  )
}

export interface Due {
  readonly table: string
  readonly retention: Retention
  readonly before: Date
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Every table of the database, by name. A test fails when one is missing here, or is here and not there. */
export function fatesOf(days: RetentionDays): Readonly<Record<string, Fate>> {
  return { ...MONEY, ...THINGS, ...PASSING, ...HISTORY, ...removed(days) }
}

function removed({ deliveries, decisions, draws, answers, reconciliations }: RetentionDays): Record<string, Retention> {
  return {
    delivery_attempt: {
      keptMs: inMs(deliveries),
      age: 'at',
      key: [['id', 'bigint']],
      unless: `EXISTS (SELECT FROM delivery d WHERE d.id = t.delivery_id AND d.state IN ('pending', 'claimed', 'unconfirmed'))`,
      says: 'Attempts of deliveries that have ended. The delivery stays, with its last status and the number of attempts.',
    },
    delivery_bounded_event: {
      keptMs: 7 * DAY_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['about', 'text'],
        ['key', 'bytea'],
      ],
      says: 'That an event which strangers can bring about was sent. The delivery stays.',
    },
    idempotent_request: {
      // The contract says a day; whoever asks at its very end is not to be disappointed.
      keptMs: 26 * HOUR_MS,
      age: 'created_at',
      key: [
        ['created_at', 'timestamptz'],
        ['scope', 'bytea'],
      ],
      // $1 is where the time is over: its lease is compared with the service's clock, not the server's.
      unless: `t.status IS NULL AND t.leased_until >= $1::timestamptz + interval '26 hours'`,
      says: 'Keys of requests that were answered, or that nobody works on any more.',
    },
    tool_answer: {
      keptMs: 26 * HOUR_MS,
      age: 'created_at',
      key: [
        ['created_at', 'timestamptz'],
        ['call_id', 'text'],
      ],
      says: 'Answers of paid calls, as long as the name of their request. The call stays.',
    },
    outflow: {
      // A day counts; what left before that is in the books.
      keptMs: 26 * HOUR_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'What left, for the limits of a day. The withdrawal, the payment and its postings stay.',
    },
    run_free: {
      keptMs: 50 * HOUR_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['owner', 'text'],
        ['caller', 'text'],
      ],
      says: 'Counts of free runs by day.',
    },
    identity_grant_count: {
      keptMs: 50 * HOUR_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['source', 'text'],
      ],
      says: 'Counts of free credits by day, mail domain and caller address. The accounts and their credits stay.',
    },
    outflow_step: {
      keptMs: 26 * HOUR_MS,
      age: 'step',
      key: [
        ['step', 'timestamptz'],
        ['account', 'text'],
      ],
      says: 'Sums of what left, for the limits of a day.',
    },
    spending_decision: {
      keptMs: inMs(decisions),
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['agent_id', 'text'],
        ['id', 'bigint'],
      ],
      // What comes back when the lock ends is written into it.
      unless: `EXISTS (SELECT FROM ledger_hold h WHERE h.id = t.reference AND h.state = 'open')`,
      says: 'Decisions about agents whose lock has ended. What an agent has spent is in its own row.',
    },
    spending_alert: {
      keptMs: inMs(decisions),
      age: 'told_at',
      key: [
        ['told_at', 'timestamptz'],
        ['agent_id', 'text'],
        ['event', 'text'],
        ['"limit"', 'text'],
        ['threshold', 'bigint'],
        ['"window"', 'timestamptz'],
      ],
      // Its window never ends: it would be told again.
      unless: `t."limit" = 'lifetime'`,
      says: 'That an agent came near a limit, except the limit of its lifetime.',
    },
    spending_approval: {
      keptMs: inMs(decisions),
      age: 'created_at',
      key: [['id', 'text']],
      unless: `t.state IN ('pending', 'approved')`,
      says: 'Approvals that were given, refused, used or lapsed.',
    },
    spending_payment: {
      keptMs: inMs(answers),
      age: 'ended_at',
      key: [
        ['ended_at', 'timestamptz'],
        ['id', 'text'],
      ],
      among: 't.answer IS NOT NULL AND t.ended_at IS NOT NULL',
      instead: 'answer = NULL',
      says: 'What a seller answered to a call that nobody waited for. The payment stays.',
    },
    paywall_draw: {
      keptMs: inMs(draws),
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['call', 'text'],
      ],
      says: "Single draws from prepaid balances. What a customer's day came to stays, in `paywall_draw_day`.",
    },
    wallet_reconciliation: {
      keptMs: inMs(reconciliations),
      age: 'at',
      key: [['id', 'bigint']],
      unless:
        't.difference <> 0 OR NOT EXISTS (SELECT FROM wallet_reconciliation l WHERE l.network = t.network AND l.id > t.id)',
      says: 'Comparisons of books and chain that agreed. Differences stay, and the newest of each network.',
    },
    facilitator_gas: {
      keptMs: inMs(decisions),
      age: 'day',
      key: [
        ['day', 'date'],
        ['network', 'text'],
        ['payer', 'bytea'],
      ],
      says: 'What sponsoring cost by day and payer; only the present day limits anybody.',
    },
    signin_verification: {
      keptMs: DAY_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'Links and codes that ran out.',
    },
    signin_session: {
      keptMs: 30 * DAY_MS,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'Sessions that ran out.',
    },
    lease: {
      keptMs: DAY_MS,
      age: 'until',
      // Without an index: there is a row for each process that lived in the last day.
      key: [
        ['until', 'timestamptz'],
        ['name', 'text'],
      ],
      says: 'Leases of processes that are gone.',
    },
  }
}

function inMs(days: number): number | null {
  return days === 0 ? null : days * DAY_MS
}

const BOOKS = 'money: the books are never thinned out'
const ONCE = 'one authorization buys one thing, ever: it stays spent'

const MONEY: Record<string, Fate> = {
  ledger_account: { kept: BOOKS },
  ledger_movement: { kept: BOOKS },
  ledger_posting: { kept: BOOKS },
  ledger_hold: { kept: BOOKS },
  sale: { kept: 'money: what was sold to whom' },
  paywall_balance: { kept: 'money: what was paid in advance' },
  paywall_customer: { kept: 'one for each customer of a paywall' },
  paywall_token: { kept: 'one for each payment in advance: the right to what is left of it' },
  paywall_draw_day: { kept: 'money: what was drawn, by customer and day' },
  paywall_day: { kept: 'statistics: one for each day, route and outcome' },
  rda_source_sale: { kept: 'bought for good' },
  wallet_deposit: { kept: 'money: one transfer is credited once, ever' },
  wallet_word: { kept: 'money: one transfer is credited once, ever' },
  wallet_withdrawal: { kept: BOOKS },
  wallet_sweep: { kept: BOOKS },
  facilitator_settlement: { kept: ONCE },
  facilitator_purchase: { kept: ONCE },
  facilitator_transaction: { kept: 'any nonce of a sponsor may be asked for' },
  facilitator_hash: { kept: 'any hash of a sponsor may have been mined' },
}

const THINGS: Record<string, Fate> = Object.fromEntries(
  Object.entries({
    identity_user: 'person',
    identity_api_key: 'key, also a revoked one',
    identity_signing_secret: 'account',
    signin_user: 'person',
    signin_account: 'way to sign in',
    wallet_address: 'wallet',
    wallet_alert: 'wallet',
    wallet_payout_address: 'wallet',
    wallet_cursor: 'network',
    outflow_switch: 'server',
    delivery_target: 'checkout or endpoint',
    checkout: 'place in a workflow: its link comes back to life with it',
    paywall: 'paywall',
    paywall_tier: 'customer of a tiered price, rewritten in each window',
    rda: 'asset',
    rda_creator: 'creator',
    rda_version: 'edit of an asset: a run shows what it ran',
    rda_stats: 'asset',
    rda_rating: 'caller and asset',
    rda_total: 'kind of asset',
    rda_word: 'word in use',
    run_rate: 'limited tool',
    spending_agent: 'agent',
    spending_payer: 'account',
    tool: 'tool: a removed one says so to its callers (of an account the last 1,000)',
    tool_provider: 'provider',
    tool_collection: 'collection',
    tool_import: 'account that imports tools, rewritten in each hour',
    tool_catalogue: 'environment',
    tool_health: 'tool',
  }).map(([table, each]) => [table, { kept: `one for each ${each}` }]),
)

const PASSING: Record<string, Fate> = {
  outbox: { ends: 'done rows a day later (outbox-retention); what failed stays until somebody has looked at it' },
  run_delta: { ends: 'folded into rda_stats every second (runs.stats)' },
  tool_delta: { ends: 'folded into tool_figure every second (tools.figures)' },
  tool_figure: { ends: 'a week later (tools.forget)' },
  sandbox_message: { ends: 'when 200 newer ones of its kind have come' },
  spending_return: { ends: "folded into the agent's row by its next decision" },
  paywall_hold: { ends: 'with its call, or at its deadline (paywall.holds)' },
  sale_answer: { ends: 'when it was handed over whole, or ten minutes later (sales.answers)' },
}

const HISTORY: Record<string, Fate> = {
  run: { kept: "the caller's history, and what each charge was for" },
  tool_call: { kept: "the caller's history, and what each charge was for" },
  delivery: { kept: 'promised: it can be sent again by hand at any time, under the same webhook-id' },
}
