/** One row of each pruned table, of the moment $1 and with the number $2; and what has to stay however old it is. */
export interface Rows {
  /** Makes a row that goes once it is old. */
  readonly expired: string
  /** Makes a row that stays. */
  readonly retained?: string
  /** Counts what is there of them; all rows of the table when absent. */
  readonly there?: string
}

const N = `lpad(($2::int)::text, 26, '0')`
const HASH = `decode(lpad(($2::int)::text, 64, '0'), 'hex')`

export const ROWS: Readonly<Record<string, Rows>> = {
  delivery_attempt: {
    expired: attempt('delivered'),
    retained: attempt('unconfirmed'),
  },
  delivery_bounded_event: {
    expired: `INSERT INTO delivery_bounded_event (about, key, at) VALUES ('chk_' || ${N}, ${HASH}, $1)`,
  },
  sale_notice: {
    expired: `INSERT INTO sale_notice (sale_id, kind, user_id, environment, at, announcement, alone, waits)
           VALUES ('pay_' || ${N}, 'sale', 'usr_1', 'sandbox', $1, '1', true, false)`,
  },
  idempotent_request: {
    expired: `INSERT INTO idempotent_request (scope, request_hash, operation, leased_until, status, created_at)
           VALUES (${HASH}, ${HASH}, 'op', $1, 200, $1)`,
    retained: `INSERT INTO idempotent_request (scope, request_hash, operation, leased_until, status, created_at)
            VALUES (${HASH}, ${HASH}, 'op', $1::timestamptz + interval '10 years', NULL, $1)`,
  },
  tool_answer: {
    expired: `INSERT INTO tool_answer (call_id, kind, value, created_at) VALUES ('call_' || ${N}, 'json', '1', $1)`,
  },
  payment_address: {
    expired: paymentAddress(0),
    retained: paymentAddress(1),
  },
  outflow: {
    expired: `INSERT INTO outflow (id, environment, user_id, kind, recipient, amount, at)
           VALUES ('out ' || $2::int, 'sandbox', 'usr_1', 'pay', decode(repeat('00', 20), 'hex'), 1, $1)`,
  },
  run_rate: { expired: `INSERT INTO run_rate (rda_id, since, used) VALUES ('rda_' || $2::int, $1, 1)` },
  run_free: { expired: `INSERT INTO run_free (at, owner, caller, used) VALUES ($1, 'sandbox/u', 'c' || $2::int, 1)` },
  identity_grant_count: {
    expired: `INSERT INTO identity_grant_count (at, source, used) VALUES ($1, 'domain ' || $2::int, 1)`,
  },
  identity_handle: {
    expired: `INSERT INTO identity_handle (handle, user_id, released_at) VALUES ('h' || $2::int, 'usr_1', $1)`,
    retained: `WITH owner AS (
              INSERT INTO identity_user (id, issuer, subject, created_at) VALUES (${N}, 'x', ${N}, $1) RETURNING id
            ) INSERT INTO identity_handle (handle, user_id) SELECT 'current' || $2::int, id FROM owner`,
  },
  outflow_step: {
    expired: `INSERT INTO outflow_step (account, step, amount) VALUES ('sandbox/' || $2::int, $1, 1)`,
  },
  spending_decision: {
    expired: `INSERT INTO spending_decision (agent_id, at, kind, target, amount, outcome, reference)
           VALUES ('agt_1', $1, 'tool', 'x', 5, 'allowed', 'closed ' || $2::int)`,
    retained: `WITH held AS (
              INSERT INTO ledger_hold (id, wallet_id, amount, deadline) VALUES ('open ' || $2::int, 1, 5, $1::timestamptz + interval '10 years')
            ) INSERT INTO spending_decision (agent_id, at, kind, target, amount, outcome, reference)
            VALUES ('agt_1', $1, 'tool', 'x', 5, 'allowed', 'open ' || $2::int)`,
  },
  spending_alert: { expired: alert('perMinute'), retained: alert('lifetime') },
  spending_approval: { expired: approval('lapsed'), retained: approval('pending') },
  spending_payment: {
    expired: payment(`'sealed'`),
    there: 'SELECT count(*)::int AS there FROM spending_payment WHERE answer IS NOT NULL',
  },
  paywall_draw: {
    expired: `INSERT INTO paywall_draw (call, paywall_id, network, payer, route, amount, at)
           VALUES ('call_' || ${N}, 'pwl_1', 'base', '0x1', 'GET /a', 3, $1)`,
  },
  paywall_pass: {
    expired: `INSERT INTO paywall_pass (paywall_id, payer, path, paid_at) VALUES ('pwl_1', '0x1', ${HASH}, $1)`,
  },
  wallet_reconciliation: {
    expired: reconciliation(0),
    retained: reconciliation(7),
  },
  facilitator_gas: {
    expired: `INSERT INTO facilitator_gas (network, day, payer, spent) VALUES ('base', ($1::timestamptz AT TIME ZONE 'UTC')::date, ${HASH}, 1)`,
  },
  trial_day: {
    expired: `INSERT INTO trial_day (checkout_id, day, used) VALUES ('chk ' || $2::int, ($1::timestamptz AT TIME ZONE 'UTC')::date, 1)`,
  },
  discovery_resource: { expired: resource('$1', 'resources') },
  discovery_check: {
    expired: `INSERT INTO discovery_check (resource, tool, network, scheme, pay_to, address, host, method, amount, state, changed_at)
           VALUES ('https://checks.example/' || $2::int, '', 'base', 'exact', ${HASH}, 'https://checks.example/', 'checks.example',
             'GET', '1', 'listed', $1)`,
  },
  discovery_payer: {
    expired: `WITH r AS (${resource(`$1::timestamptz + interval '10 years'`, 'payers')} RETURNING id)
           INSERT INTO discovery_payer (resource_id, payer, settled, failed, waited_ms, timed, last_at)
           SELECT id, ${HASH}, 1, 0, 0, 0, $1 FROM r`,
  },
  discovery_origin: {
    expired: `INSERT INTO discovery_origin (network, address, depth, updated_at) VALUES ('base', ${HASH}, 1, $1)`,
  },
  discovery_transfer: {
    expired: `INSERT INTO discovery_transfer (network, recipient, sender, seen_at) VALUES ('base', ${HASH}, '', $1)`,
  },
  checkout_default: {
    expired: `INSERT INTO checkout_default (payer, network, until) VALUES ($2::int, 'base', $1)`,
  },
  checkout_progress: {
    expired: `INSERT INTO checkout_progress (payment_id, lines, written, updated_at) VALUES ('pay_' || ${N}, '[]', 1, $1)`,
  },
  checkout_day: {
    expired: `INSERT INTO checkout_day (day, checkout_id, user_id, environment, opened)
           VALUES ($1::timestamptz, 'chk_' || ${N}, 'usr_1', 'sandbox', 1)`,
  },
  checkout_draft: {
    expired: `INSERT INTO checkout_draft (token_hash, checkout_id, content, expires_at) VALUES (${HASH}, 'chk_1', '{}', $1)`,
  },
  oauth_client: {
    expired: `INSERT INTO oauth_client (id, name, redirect_uris, expires_at) VALUES (${N}, 'x', '{}', $1)`,
  },
  connection: { expired: connection('revoked'), retained: connection('expired') },
  oauth_device: {
    expired: `INSERT INTO oauth_device (device_hash, user_code, name, interval_seconds, expires_at)
           VALUES (${HASH}, ${N}, 'x', 5, $1)`,
  },
  oauth_grant: { expired: grant('$1'), retained: grant('NULL') },
  signin_verification: {
    expired: `INSERT INTO signin_verification (id, identifier, value, expires_at, created_at, updated_at)
           VALUES (${N}, 'x', 'x', $1, $1, $1)`,
  },
  signin_session: {
    expired: `INSERT INTO signin_session (id, token, user_id, expires_at, created_at, updated_at)
           VALUES (${N}, ${N}, 'person', $1, $1, $1)`,
  },
  lease: { expired: `INSERT INTO lease (name, holder, until) VALUES (${N}, 'x', $1)` },
}

/** What those rows lean on. */
export const GROUND = `
INSERT INTO signin_user (id, name, email, created_at, updated_at) VALUES ('person', 'P', 'p@example.com', now(), now());
INSERT INTO identity_user (id, issuer, subject, created_at) VALUES ('usr_1', 'coinslot', 'usr_1', now());
INSERT INTO paywall (id, user_id, environment, slug, name, upstream_url, routes, network, test_mode, status, milestones,
  header_names, headers_sealed, secret_sealed, version, earlier, created_at, updated_at)
VALUES ('pwl_1', 'usr_1', 'sandbox', 'p', 'P', 'https://example.com', '[]', 'base', true, 'active', '{}', '{}', '', '', 1, '[]', now(), now());
INSERT INTO paywall_balance (paywall_id, network, payer, available, held, paid, drawn) VALUES ('pwl_1', 'base', '0x1', 0, 0, 9, 9);`

function attempt(state: string): string {
  const more = state === 'delivered' ? 'delivered_at' : 'claimed_at'
  return `WITH made AS (
    INSERT INTO delivery (id, user_id, environment, subject, url, body, headers, wait_ms, keep_bytes, on_unconfirmed, state, ${more}, created_at)
    VALUES ('dlv_' || ${N}, 'usr_1', 'sandbox', 's', 'https://example.com', '{}', '{}', 1000, 0, 'hold', '${state}', $1, $1)
    ON CONFLICT DO NOTHING
  ) INSERT INTO delivery_attempt (delivery_id, at, duration_ms, status) VALUES ('dlv_' || ${N}, $1, 5, 200)`
}

function alert(limit: string): string {
  return `INSERT INTO spending_alert (agent_id, event, "limit", threshold, "window", told_at)
    VALUES ('agt_1', 'e', '${limit}', 8000, $1::timestamptz + $2::int * interval '1 second', $1)`
}

function approval(state: string): string {
  return `INSERT INTO spending_approval (id, agent_id, user_id, environment, state, kind, target, amount, request_hash, created_at, expires_at)
    VALUES ('apr_' || ${N}, 'agt_1', 'usr_1', 'sandbox', '${state}', 'tool', 'x', 1, 'hash ' || $2::int, $1, $1)`
}

function payment(answer: string): string {
  return `INSERT INTO spending_payment (id, user_id, environment, state, url, method, request_hash, max_amount, amount, network,
      payer, pay_to, valid_before, nonce, signature, asked, seen_block, tx_hash, answer, created_at, look_at, ended_at)
    VALUES ('pay_' || ${N}, 'usr_1', 'sandbox', 'settled', 'https://example.com', 'GET', 'h', 5, 5, 'base',
      '0x1', '0x2', 1, 'nonce ' || $2::int, '0x', '{}', 1, '0x', ${answer}, $1, $1, $1)`
}

function reconciliation(difference: number): string {
  return `INSERT INTO wallet_reconciliation (network, block_number, at, wallets, revenue, capital, treasury, deposit_addresses,
      payers, in_flight, difference)
    VALUES ('base', $2::int, $1, 0, 0, 0, ${String(difference)}, 0, 0, 0, ${String(difference)})`
}

function resource(lastAt: string, name: string): string {
  return `INSERT INTO discovery_resource (resource, tool, network, scheme, pay_to, type, x402_version, accepts, tags,
      extensions, extension_keys, first_at, last_at)
    VALUES ('https://${name}.example/' || $2::int, '', 'base', 'exact', ${HASH}, 'http', 2, '[]', '{}', '{}', '{}', $1, ${lastAt})`
}

function connection(state: string): string {
  return `INSERT INTO connection (id, user_id, environment, agent_id, provider, provider_owner_id, name, is_default, kind, state,
            schemes, hosts, scopes, created_at, updated_at)
          VALUES (${N}, 'usr_1', 'sandbox', '', 'p', '', ${N}, false, 'key', '${state}', '{}', '{}', '{}', $1, $1)`
}

function grant(endedAt: string): string {
  return `INSERT INTO oauth_grant (key_id, agent_id, user_id, environment, client_id, redirect_uri, resource, challenge,
            code_hash, expires_at, ended_at)
          VALUES (${N}, 'agt_1', 'usr_1', 'sandbox', 'c', 'r', 'm', 'x', ${HASH}, $1, ${endedAt}::timestamptz)`
}

/** Closed; with money at it, or without any. */
function paymentAddress(balance: number): string {
  return `INSERT INTO payment_address (id, user_id, environment, checkout_id, network, account, address, amount, bought,
      state, balance, reason, expires_at, created_at, looked_at, ended_at)
    VALUES ('adr_' || ${N} || '${String(balance)}', 'usr_1', 'sandbox', 'chk_1', 'base', 'a${String(balance)}',
      ${HASH} || decode('0${String(balance)}', 'hex'), 1, '{}', 'closed', ${String(balance)}, 'expired', $1, $1,
      $1::timestamptz + interval '90 days', $1)`
}
