import {
  EARLIER,
  ENDED,
  LATER,
  AT,
  CHANGED,
  DAY,
  sha256,
  id,
  json,
  USER,
  CREATOR,
  KEY,
  OWNED,
  PAYER,
  SELLER,
  ADDRESS,
  HASH,
  CHECKOUT,
  AGENT,
  type Row,
  type Seal,
} from './names.ts'
import { assets, checkouts, gates, sales, tools } from './products.ts'

/**
 * Rows of every kind of table, as they are before any version changes them. A version writes the columns that it has.
 * Those of a table that a later migration replaced are in the form that they had.
 */
export function rowsOf(seal: Seal): readonly (readonly [table: string, row: Row])[] {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  return [
    ...people(seal, secret),
    ...assets(),
    ...agents(),
    ...tools(),
    ...checkouts(),
    ...sales(),
    ...gates(seal, secret),
    ...deliveries(seal, secret),
    ...settlements(),
    ...wallets(),
    ...pages(),
  ]
}

/** Tables whose rows a running service writes for itself alone, or makes again. */
export const OWN_ROWS: readonly string[] = [
  ...['lease', 'outbox', 'idempotent_request', 'signin_verification', 'wallet_cursor', 'rda_total', 'rda_word'],
  ...['tool_catalogue', 'tool_delta', 'run_delta', 'discovery_transfer', 'discovery_check'],
]

function people(seal: Seal, secret: string): [string, Row][] {
  const key = { ...OWNED, ...AT, secret_hash: sha256(KEY), prefix: KEY.slice(0, 13), last_four: KEY.slice(-4) }
  return [
    ['signin_user', { id: USER, name: 'Old', email: 'old@a.example', email_verified: true, ...CHANGED }],
    ['signin_account', { id: 'acc', provider_id: 'credential', account_id: USER, user_id: USER, ...CHANGED }],
    ['signin_session', { id: 'ses', token: 'old', user_id: USER, expires_at: LATER, ...CHANGED }],
    ['identity_user', { id: USER, issuer: 'coinslot', subject: USER, sandbox_granted_at: EARLIER, ...AT }],
    ['identity_user', { id: CREATOR, issuer: 'coinslot', subject: CREATOR, sandbox_granted_at: EARLIER, ...AT }],
    ['identity_api_key', { id: id('key', 'aged'), name: 'old', ...key }],
    [
      'identity_signing_secret',
      { ...OWNED, ...AT, made_by: 'op_1', sealed: seal(secret, `${USER}/sandbox/signingSecret`) },
    ],
    ['identity_grant_count', { at: EARLIER, source: 'domain a.example', used: 1 }],
    ['identity_handle', { handle: 'old', user_id: USER }],
    ['oauth_client', { id: 'client', name: 'Assistant', redirect_uris: [], expires_at: LATER }],
    [
      'oauth_grant',
      {
        ...OWNED,
        ...{ key_id: id('key', 'aged'), agent_id: AGENT, client_id: 'client', redirect_uri: 'https://a.example' },
        ...{ resource: 'https://a.example', challenge: 'c', code_hash: HASH, expires_at: LATER },
      },
    ],
  ]
}

function agents(): [string, Row][] {
  const policy = { limits: {}, rules: [], approval: null }
  const paid = {
    ...{ id: id('out', 'aged'), agent_id: AGENT, state: 'settled', url: 'https://a.example', method: 'GET' },
    ...{ request_hash: 'h', max_amount: 10_000, amount: 10_000, network: 'base-sepolia', payer: PAYER, pay_to: SELLER },
    ...{
      valid_before: 1,
      nonce: '0x1',
      signature: '0x1',
      asked: '{}',
      seen_block: 1,
      answer_status: 200,
      tx_hash: '0x1',
    },
    ...{ look_at: LATER, ended_at: ENDED, ...OWNED, ...AT },
  }
  const decision = { agent_id: AGENT, kind: 'tool', target: 'acme-note', amount: 10_000, outcome: 'allowed' }
  return [
    [
      'spending_agent',
      { id: AGENT, name: 'Old agent', policy: json(policy), counted_at: EARLIER, ...OWNED, ...CHANGED },
    ],
    [
      'spending_alert',
      { agent_id: AGENT, event: 'e', limit: 'perDay', threshold: 80, window: EARLIER, told_at: EARLIER },
    ],
    [
      'spending_approval',
      {
        ...{ id: id('apr', 'aged'), agent_id: AGENT, state: 'lapsed', kind: 'tool', target: 'acme-note', amount: 1 },
        ...{ request_hash: 'h', expires_at: ENDED, ...OWNED, ...AT },
      },
    ],
    ['spending_decision', { ...decision, at: EARLIER, reference: 'call' }],
    ['spending_return', { agent_id: AGENT, at: EARLIER, amount: 1 }],
    ['spending_payer', { address: PAYER, ...OWNED, ...AT }],
    ['spending_payment', paid],
    ['outflow', { id: 'out_early', kind: 'pay', recipient: ADDRESS, amount: 10_000, at: EARLIER, ...OWNED }],
    ['outflow_step', { account: 'sandbox/early', step: EARLIER, amount: 10_000 }],
    ['outflow_switch', { paused: false, changed_at: EARLIER }],
  ]
}

function deliveries(seal: Seal, secret: string): [string, Row][] {
  const endpoint = id('whe', 'aged')
  const delivery = {
    ...{ subject: id('pay', 'bought'), target_id: endpoint, body: '{}', headers: '{}', wait_ms: 15_000 },
    ...{ keep_bytes: 0, on_unconfirmed: 'hold', ...OWNED, ...AT },
  }
  const target = { events: ['payment.completed'], made_by: 'op_1', ...OWNED, ...AT }
  return [
    [
      'delivery_target',
      { id: endpoint, url: 'http://127.0.0.1:9/hook', sealed: seal(secret, `${endpoint}/signingSecret`), ...target },
    ],
    ['delivery', { id: id('dlv', 'aged'), state: 'delivered', delivered_at: ENDED, ...delivery }],
    ['delivery', { id: id('dlv', 'waits'), state: 'pending', due_at: LATER, ...delivery }],
    ['delivery_attempt', { delivery_id: id('dlv', 'aged'), at: EARLIER, duration_ms: 3, status: 200 }],
    ['delivery_bounded_event', { about: CHECKOUT, key: HASH, at: EARLIER }],
    ['sandbox_message', { kind: 'mail', content: '{"to":"old@a.example"}', ...AT }],
  ]
}

function settlements(): [string, Row][] {
  const settled = {
    ...{
      digest: sha256('gate'),
      network: 'base-sepolia',
      asset: ADDRESS,
      payer: ADDRESS,
      nonce: HASH,
      pay_to: ADDRESS,
    },
    ...{ value: 10_000, valid_after: 0, valid_before: 1, signature: HASH, payer_has_code: false, alone: false, gas: 1 },
    ...{ seen_block: 1, state: 'settled', transaction_id: 1, tx_hash: HASH, block_number: 1, final: true },
    ...{ claimed_at: EARLIER, ended_at: ENDED },
  }
  const transaction = {
    ...{
      id: 1,
      network: 'base-sepolia',
      sponsor: ADDRESS,
      nonce: 0,
      state: 'final',
      target: ADDRESS,
      data: HASH,
      gas: 1,
    },
    ...{ max_fee: 1, priority_fee: 1, hash: HASH, raw: HASH, signed_at: EARLIER, sent_at: EARLIER, block_number: 1 },
  }
  const resource = {
    ...{ id: 1, resource: 'https://a.example/a', tool: '', network: 'base-sepolia', scheme: 'exact', pay_to: ADDRESS },
    ...{ type: 'http', x402_version: 2, accepts: '[]', extensions: '{}', first_at: EARLIER, last_at: EARLIER },
  }
  const payer = { settled: 1, failed: 0, waited_ms: 5, timed: 1, last_at: EARLIER }
  return [
    ['facilitator_transaction', transaction],
    ['facilitator_hash', { hash: HASH, transaction_id: 1 }],
    ['facilitator_settlement', settled],
    ['facilitator_gas', { network: 'base-sepolia', day: DAY, payer: ADDRESS, spent: 1 }],
    ['facilitator_purchase', { digest: sha256('gate'), buys: id('pay', 'gated'), bought_at: EARLIER }],
    ['discovery_resource', resource],
    ['discovery_payer', { resource_id: 1, payer: ADDRESS, ...payer }],
    ['discovery_origin', { network: 'base-sepolia', address: ADDRESS, depth: 1, updated_at: EARLIER }],
  ]
}

function wallets(): [string, Row][] {
  const at = { network: 'base-sepolia', block_number: 1, block_hash: HASH }
  const sums = { wallets: 0, revenue: 0, capital: 0, treasury: 0, deposit_addresses: 0, payers: 0, in_flight: 0 }
  const withdrawn = { network: 'base-sepolia', recipient: ADDRESS, amount: 1_000_000, state: 'confirmed', nonce: HASH }
  return [
    ['wallet_address', { account: 'early', address: ADDRESS, ...OWNED, ...AT }],
    ['wallet_alert', { below: 1_000_000, ...OWNED }],
    [
      'wallet_deposit',
      {
        ...at,
        transaction_hash: HASH,
        place: 0,
        address: ADDRESS,
        sender: ADDRESS,
        value: 1,
        act: 'd',
        at: EARLIER,
        ...OWNED,
      },
    ],
    ['wallet_payout_address', { address: ADDRESS, changed_at: EARLIER, ...OWNED }],
    ['wallet_reconciliation', { network: 'base-sepolia', block_number: 1, at: EARLIER, difference: 0, ...sums }],
    [
      'wallet_sweep',
      {
        network: 'base-sepolia',
        address_index: 0,
        amount: 1,
        nonce: HASH,
        valid_before: 1,
        state: 'settled',
        ended_at: ENDED,
        ...AT,
      },
    ],
    [
      'wallet_withdrawal',
      { id: id('wdr', 'aged'), simulated: true, submitted_at: EARLIER, ended_at: ENDED, ...withdrawn, ...OWNED, ...AT },
    ],
    ['wallet_word', { transaction_hash: HASH, user_id: USER }],
  ]
}

function pages(): [string, Row][] {
  const file = { name: 'a.txt', media_type: 'text/plain', bytes: 2, sha256: HASH, ...OWNED, ...AT }
  const device = { user_code: 'AAAA-AAAA', name: 'terminal', interval_seconds: 5, expires_at: LATER }
  return [
    ['brand', { name: 'Old', updated_at: EARLIER, ...OWNED }],
    ['file', { id: id('file', 'aged'), purpose: 'sale', ...file }],
    ['file_chunk', { file_id: id('file', 'aged'), place: 0, content: Buffer.from('hi') }],
    ['file_use', { file_id: id('file', 'aged'), subject: CHECKOUT, current: true }],
    ['oauth_device', { device_hash: HASH, ...device }],
  ]
}
