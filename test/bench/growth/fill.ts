import type pg from 'pg'

/** Fills a database as years of use would, with plain SQL; the ledger's own triggers maintain the accounts. */
export interface History {
  /** People with a wallet, each with the same share of everything. */
  readonly people: number
  /** Charged runs, and as many payments at checkouts, each delivered to its workflow. */
  readonly payments: number
}

const CHUNK = 25_000

/** Adds what is missing up to that size: filled again with more, the history grows. */
export async function fillHistory(client: pg.Client, { people, payments }: History): Promise<void> {
  await client.query(`SET synchronous_commit = off; SET work_mem = '64MB'`)
  const { rows } = await client.query<{ people: number; payments: number }>(
    `SELECT (SELECT count(*)::int FROM identity_user WHERE subject LIKE 'filled-%') AS people,
            (SELECT count(*)::int FROM run WHERE rda_slug LIKE 'filled-%') AS payments`,
  )
  const there = rows[0] ?? { people: 0, payments: 0 }
  if (there.people < people)
    for (const text of PEOPLE) await client.query(withNumbers(text, there.people, people - 1, people))
  for (let from = there.payments; from < payments; from += CHUNK) {
    const to = Math.min(from + CHUNK, payments) - 1
    // In one transaction: a chunk that was interrupted is inserted again.
    await client.query('BEGIN')
    for (const text of PAYMENTS) await client.query(withNumbers(text, from, to, people))
    await client.query('COMMIT')
  }
}

/** Not as parameters: a statement that leaves one out is refused. */
function withNumbers(text: string, ...numbers: readonly number[]): string {
  return text.replaceAll(/\$([123])/g, (_, place: string) => String(numbers[Number(place) - 1]))
}

/** Ids in the service's format, but from a time before all of its own. */
function id(prefix: string, number: string): string {
  return `'${prefix}_' || lpad((${number})::text, 26, '0')`
}

const HASH = `decode(md5(i::text) || md5('b' || i), 'hex')`
const AT = `timestamptz '2026-01-01' + i * interval '20 seconds'`
/** A tenth of everything belongs to one busy person; the others have equal parts. */
const NUMBER = '(CASE WHEN i % 10 = 0 THEN 0 ELSE i % $3 END)'
const PERSON = id('usr', NUMBER)
const WALLET = `(SELECT id FROM ledger_account w WHERE w.owner = ${PERSON} AND w.environment = 'sandbox' AND w.kind = 'wallet' AND w.stripe = 0)`
const SELLER = id('usr', '(i / 7) % $3')
const SELLERS = WALLET.replace(PERSON, SELLER)
const COST = '10000 + (i % 7) * 1000'
const EACH = 'FROM generate_series($1, $2) i'

const PEOPLE = [
  `INSERT INTO identity_user (id, issuer, subject, name, created_at)
   SELECT ${id('usr', 'i')}, 'coinslot', 'filled-' || i, 'Person ' || i, ${AT} ${EACH}`,
  `INSERT INTO ledger_account (environment, owner, kind)
   SELECT 'sandbox', ${id('usr', 'i')}, kind ${EACH}, unnest(ARRAY['wallet', 'credits']::ledger_account_kind[]) kind`,
  `INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
   SELECT 'filled-deposit-' || i, 'deposit', ${HASH}, 'filled', ${AT} ${EACH}`,
  `INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
   SELECT 'filled-deposit-' || i, p.account, p.side, 'deposit', p.amount, 0 ${EACH}, LATERAL (
     SELECT a.id AS account, 'receiver'::ledger_side AS side, 1000000000000 AS amount FROM ledger_account a
     WHERE a.owner = ${id('usr', 'i')} AND a.environment = 'sandbox' AND a.kind = 'wallet'
     UNION ALL
     SELECT a.id, 'payer', -1000000000000 FROM ledger_account a
     WHERE a.owner = 'platform' AND a.environment = 'sandbox' AND a.kind = 'treasury' AND a.stripe = i % 16
   ) p`,
  `INSERT INTO rda_creator (user_id, subject, name) SELECT ${id('usr', 'i')}, 'filled-' || i, 'Person ' || i ${EACH} ON CONFLICT DO NOTHING`,
  `INSERT INTO checkout (id, user_id, environment, lifetime, callback_url, product_name, price, network, recipient, fields,
     test_mode, response_mode, preflight, redeliver_unconfirmed, created_at, updated_at)
   SELECT ${id('chk', 'i')}, ${id('usr', 'i')}, 'sandbox', 'persistent', 'https://example.com/hook', 'Product ' || i, 10000,
     'base-sepolia', '0x' || repeat('1', 40), '[]', false, 'immediately', false, false, ${AT}, ${AT} ${EACH}`,
]

const PAYMENTS = [
  `INSERT INTO ledger_hold (id, wallet_id, amount, captured, state, end_hash, deadline)
   SELECT ${id('run', 'i')}, ${WALLET}, ${COST}, ${COST}, 'captured', ${HASH}, ${AT} + interval '1 hour' ${EACH}`,
  `INSERT INTO ledger_movement (id, kind, input_hash, reference, at)
   SELECT ${id('run', 'i')} || suffix, kind, ${HASH}, ${id('run', 'i')}, ${AT} ${EACH},
     (VALUES ('.reserve', 'reserve'::ledger_movement_kind), ('.end', 'capture')) m (suffix, kind)`,
  `INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
   SELECT ${id('run', 'i')} || '.reserve', ${WALLET}, 'payer', 'reserve', -(${COST}), ${COST} ${EACH}`,
  `INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
   SELECT ${id('run', 'i')} || '.end', p.account, p.side::ledger_side, 'capture', p.available, p.locked ${EACH}, LATERAL (
     VALUES (${WALLET}, 'payer', 0, -(${COST})), (${SELLERS}, 'receiver', ${COST}, 0)) p (account, side, available, locked)`,
  `INSERT INTO run (id, environment, user_id, subject, rda_id, rda_slug, rda_type, rda_version, owner_id, payer_id, status,
     locked, price, cost, inputs, output, deadline, created_at, started_at, ended_at, duration_ms)
   SELECT ${id('run', 'i')}, 'sandbox', ${PERSON}, 'filled-' || ${NUMBER}, ${id('rda', 'i % ($3 / 2)')}, 'filled-' || i % ($3 / 2), 'prompt', '1.0.0',
     ${SELLER}, ${PERSON}, 'succeeded', ${COST}, ${COST}, ${COST}, '{"topic": "bees"}', repeat('An answer. ', 20), ${AT}, ${AT}, ${AT}, ${AT}, 5 ${EACH}`,
  `INSERT INTO sale (id, product, subject, user_id, environment, state, amount, network, recipient, payer, simulated,
     digest, request, details, input_hash, tx_hash, created_at, ended_at)
   SELECT ${id('pay', 'i')}, 'checkout', ${id('chk', NUMBER)}, ${PERSON}, 'sandbox', 'paid', 10000, 'base-sepolia', '0x' || repeat('1', 40),
     '0x' || md5(i::text) || '00000000', false, ${HASH}, '{}', '{"input": {"site": "https://example.com"}}', ${HASH}, '0x' || encode(${HASH}, 'hex'), ${AT}, ${AT} ${EACH}`,
  `INSERT INTO facilitator_purchase (digest, buys, bought_at) SELECT ${HASH}, ${id('pay', 'i')}, ${AT} ${EACH}`,
  `INSERT INTO delivery (id, user_id, environment, subject, target_id, body, headers, wait_ms, keep_bytes, on_unconfirmed,
     state, attempts, last_attempt_at, last_status, delivered_at, created_at)
   SELECT ${id('dlv', 'i')}, ${PERSON}, 'sandbox', ${id('pay', 'i')}, ${id('chk', NUMBER)},
     '{"payment":{"amount":0.01,"currency":"USDC"},"input":{"site":"https://example.com"}}', '{}', 15000, 2048, 'hold',
     'delivered', 1, ${AT}, 200, ${AT}, ${AT} ${EACH}`,
  `INSERT INTO delivery_attempt (delivery_id, at, duration_ms, status, answer)
   SELECT ${id('dlv', 'i')}, ${AT}, 12, 200, '{"ok":true}' ${EACH}`,
  `INSERT INTO tool_call (id, environment, user_id, tool_id, slug, provider, cost, attempt, duration_ms, ended_at)
   SELECT ${id('call', 'i')}, 'sandbox', ${PERSON}, ${id('tool', 'i % 500')}, 'filled-' || i % 500, 'filled', 0, 1, 12, ${AT} ${EACH}`,
]
