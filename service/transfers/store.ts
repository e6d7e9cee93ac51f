import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import { usdc } from '../kit/money.ts'
import { toBytes, toHex } from '../kit/rows.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Transfer } from './model.ts'

/** Every transfer of money that leaves, whichever capability's it is: the open ones, the oldest first, or the one of this id. */
export async function findTransfers(
  statements: Statements,
  which: { id: string } | { limit: number },
): Promise<readonly Transfer[]> {
  const networks = Object.values(NETWORKS)
  const assets = [networks.map(({ name }) => name), networks.map(({ usdc: { address } }) => toBytes(address))]
  const rows =
    'id' in which
      ? await statements.run<Row>(OF_ID, [...assets, TABLES.length, which.id])
      : await statements.run<Row>(OPEN, [...assets, which.limit])
  return rows.map(({ payer, recipient, nonce, hash, amount, ...row }) => {
    const bytes = { from: hexOf(payer), to: hexOf(recipient), nonce: hexOf(nonce), txHash: hexOf(hash) }
    return { ...row, ...bytes, amount: usdc(amount) }
  })
}

function hexOf(bytes: Buffer | null) {
  return bytes === null ? null : toHex(bytes)
}

interface Row extends Omit<Transfer, 'from' | 'to' | 'nonce' | 'txHash' | 'amount' | 'network'> {
  network: NetworkName
  amount: bigint
  payer: Buffer | null
  recipient: Buffer | null
  nonce: Buffer | null
  hash: Buffer | null
}

const bytesOf = (text: string): string => `decode(substr(${text}, 3), 'hex')`
const nonceOf = (of: string, id: string): string => `sha256(convert_to('coinslot ${of} ' || ${id}, 'UTF8'))`

/** Each table in the words of all: `waiting` until its terms are stored, `signed` from then, `sent` once the network may have it. */
const TABLES = [
  {
    id: 'id',
    isOpen: `state IN ('pending', 'submitted')`,
    rows: `
SELECT id, kind, user_id, environment::text, network, amount, payer, recipient, nonce, valid_before,
  CASE state WHEN 'pending' THEN CASE WHEN payer IS NULL THEN 'waiting' ELSE 'signed' END WHEN 'submitted' THEN 'sent'
    ELSE state::text END AS state,
  reason, transaction_hash AS hash, created_at, submitted_at AS sent_at, ended_at
FROM wallet_withdrawal WHERE true`,
  },
  {
    // The payout of one that is paid from the balance is in the table above.
    id: 'r.id',
    isOpen: `(r.state = 'requested' OR (r.way = 'own' AND r.state = 'sent'))`,
    rows: `
SELECT r.id, CASE r.way WHEN 'own' THEN 'refund_own' ELSE 'refund' END, r.user_id, r.environment::text, s.network, r.amount,
  CASE r.way WHEN 'own' THEN ${bytesOf('s.recipient')} END, ${bytesOf('s.payer')},
  CASE r.way WHEN 'own' THEN ${nonceOf('refund', 'r.id')} END, r.valid_before,
  CASE r.state WHEN 'requested' THEN 'waiting' WHEN 'funded' THEN 'signed' ELSE r.state::text END,
  coalesce(r.failure, r.waits_for, CASE WHEN r.state = 'requested' AND r.way = 'own' THEN 'signature' END),
  CASE WHEN r.tx_hash LIKE '0x%' THEN ${bytesOf('r.tx_hash')} END, r.created_at, r.sent_at, r.ended_at
FROM refund r JOIN sale s ON s.id = r.sale_id WHERE (r.way = 'own' OR (r.way = 'wallet' AND r.funded_at IS NULL))`,
  },
  {
    id: `'sweep ' || w.id`,
    isOpen: `w.state = 'open'`,
    rows: `
SELECT 'sweep ' || w.id, 'sweep', a.user_id, a.environment::text, w.network, w.amount, a.address, NULL, w.nonce, w.valid_before,
  CASE w.state WHEN 'open' THEN 'sent' WHEN 'settled' THEN 'confirmed' ELSE w.state::text END,
  NULL, w.transaction_hash, w.created_at, w.created_at, w.ended_at
FROM wallet_sweep w LEFT JOIN wallet_address a ON a.index = w.address_index WHERE true`,
  },
  {
    id: 'id',
    isOpen: `state = 'funding'`,
    rows: `
SELECT 'funding ' || id, 'funding', user_id, environment::text, network, funding, ${bytesOf('funding_payer')}, ${bytesOf('payer')},
  ${nonceOf('funding', 'id')}, funding_valid_before,
  CASE WHEN funding_hash IS NOT NULL OR state IN ('funded', 'signed', 'sent', 'settled') THEN 'confirmed'
    WHEN state = 'funding' THEN 'sent' ELSE 'failed' END,
  NULL, CASE WHEN funding_hash LIKE '0x%' THEN ${bytesOf('funding_hash')} END, created_at, created_at, NULL
FROM spending_payment WHERE funding > 0 AND funding_payer IS NOT NULL`,
  },
  {
    id: 'id',
    isOpen: `state NOT IN ('settled', 'returned')`,
    rows: `
SELECT id, 'payment', user_id, environment::text, network, amount, ${bytesOf('payer')}, ${bytesOf('pay_to')}, ${bytesOf('nonce')}, valid_before,
  CASE WHEN state IN ('reserved', 'funding', 'funded') THEN 'waiting' WHEN state = 'settled' THEN 'confirmed'
    WHEN state = 'returned' THEN 'failed' ELSE state::text END,
  coalesce(reason, CASE WHEN state = 'funding' THEN 'funding' END),
  CASE WHEN tx_hash LIKE '0x%' THEN ${bytesOf('tx_hash')} END, created_at, NULL, ended_at
FROM spending_payment WHERE true`,
  },
  {
    id: `'return ' || r.id`,
    isOpen: `r.state = 'open'`,
    rows: `
SELECT 'return ' || r.id, 'return', p.user_id, p.environment::text, p.network, r.amount, p.address, r.recipient, r.nonce, r.valid_before,
  CASE r.state WHEN 'open' THEN 'sent' WHEN 'settled' THEN 'confirmed' ELSE r.state::text END,
  NULL, r.transaction_hash, r.created_at, r.created_at, r.ended_at
FROM payment_address_return r JOIN payment_address p ON p.id = r.address_id WHERE true`,
  },
]

/** What the facilitator knows of it is found by payer and nonce. */
const transfersOf = (where: (table: (typeof TABLES)[number]) => string): string => `
WITH transfer AS (${TABLES.map((table) => `${table.rows} AND ${where(table)}`).join(' UNION ALL ')}),
wanted AS (SELECT * FROM transfer ORDER BY created_at, id LIMIT $3)
SELECT w.id, w.kind, w.user_id AS "userId", w.environment, w.network, w.amount, w.payer, w.recipient, w.nonce,
  w.valid_before AS "validBefore", w.state, w.reason, coalesce(w.hash, f.tx_hash) AS hash, w.created_at AS "createdAt", w.sent_at AS "sentAt",
  w.ended_at AS "endedAt", f.state::text AS settlement, f.attempts, f.reason AS refusal
FROM wanted w
LEFT JOIN unnest($1::text[], $2::bytea[]) AS n(network, asset) ON n.network = w.network
LEFT JOIN facilitator_settlement f ON f.network = w.network AND f.asset = n.asset AND f.payer = w.payer AND f.nonce = w.nonce
ORDER BY w.created_at, w.id`

const OPEN = transfersOf(({ isOpen }) => isOpen)
const OF_ID = transfersOf(({ id }) => `${id} = $4`)
