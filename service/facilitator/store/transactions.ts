import { toBytes } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { SponsorTransaction } from '../model.ts'
import type { SettlementStore, Signing } from '../ports.ts'
import {
  COMMITTED_SOON,
  fromTransactionRow,
  fromSettlementRow,
  SETTLEMENT,
  type TransactionRow,
  type SettlementRow,
} from './rows.ts'

type Transactions = Pick<SettlementStore, 'sign' | 'fill' | 'replace' | 'sent' | 'open' | 'highestNonce' | 'carried'>

/** The sponsor's transactions that are under way. */
export function transactions(statements: Statements): Transactions {
  return {
    async sign(signing) {
      try {
        const [row] = await statements.run<{ id: bigint }>(SIGN, valuesOf(signing), 'facilitator_sign')
        return row === undefined ? 'settlements-gone' : transactionOf(row.id, signing)
      } catch (error) {
        if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error
        return 'nonce-taken'
      }
    },

    async fill(signing) {
      const values = valuesOf({ ...signing, workerId: '', digests: [] }).slice(2)
      const [row] = await statements.run<{ id: bigint }>(FILL, values, 'facilitator_fill')
      return row === undefined ? null : transactionOf(row.id, signing)
    },

    async replace({ id }, { target, data, gas, bumps, hash, raw, fees, now }) {
      await statements.run(
        REPLACE,
        [
          id,
          toBytes(hash),
          toBytes(raw),
          String(fees.maxFeePerGas),
          String(fees.maxPriorityFeePerGas),
          now,
          toBytes(target),
          toBytes(data),
          gas,
          bumps,
        ],
        'facilitator_replace',
      )
    },

    async sent({ id }, now) {
      await statements.run(SENT, [id, now], 'facilitator_sent')
    },

    async open(network, of) {
      const rows =
        'sponsor' in of
          ? await statements.run<TransactionRow>(OPEN('= $2'), [network, toBytes(of.sponsor)], 'facilitator_open')
          : await statements.run<TransactionRow>(OPEN_OTHERS, [network, of.others.map(toBytes)], 'facilitator_orphans')
      return rows.map(fromTransactionRow)
    },

    async highestNonce(network, sponsor) {
      const [row] = await statements.run<{ nonce: bigint | null }>(
        'SELECT max(nonce) AS nonce FROM facilitator_transaction WHERE network = $1 AND sponsor = $2',
        [network, toBytes(sponsor)],
        'facilitator_highest_nonce',
      )
      return row?.nonce == null ? null : Number(row.nonce)
    },

    async carried({ id }: SponsorTransaction) {
      const rows = await statements.run<SettlementRow>(
        `SELECT ${SETTLEMENT} FROM facilitator_settlement s WHERE transaction_id = $1 AND state IN ('signed', 'broadcast')`,
        [id],
        'facilitator_carried',
      )
      return rows.map(fromSettlementRow)
    },
  }
}

const UNIQUE_VIOLATION = '23505'

// Writes nothing unless all of the settlements still belong to this worker.
const SIGN = `
WITH mine AS (
  SELECT digest FROM facilitator_settlement
  WHERE digest = ANY($1::bytea[]) AND state = 'claimed' AND taken_by = $2 ORDER BY digest FOR UPDATE
), made AS (
  INSERT INTO facilitator_transaction
    (network, sponsor, nonce, target, data, gas, max_fee, priority_fee, hash, raw, signed_at)
  SELECT $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
  WHERE (SELECT count(*) FROM mine) = cardinality($1::bytea[])
  RETURNING id, hash
), named AS (
  INSERT INTO facilitator_hash (hash, transaction_id) SELECT hash, id FROM made
), carried AS (
  UPDATE facilitator_settlement s
  SET state = 'signed', transaction_id = made.id, tx_hash = made.hash, attempts = s.attempts + 1,
    taken_by = NULL, taken_until = NULL
  FROM made, mine WHERE s.digest = mine.digest
)
SELECT id FROM made`

// A transaction that was given up is overwritten: a reorganization freed its nonce, so the nonce needs a new
// transaction.
const FILL = `
WITH made AS (
  INSERT INTO facilitator_transaction AS t
    (network, sponsor, nonce, target, data, gas, max_fee, priority_fee, hash, raw, signed_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  ON CONFLICT (network, sponsor, nonce) DO UPDATE
  SET state = 'signed', target = $4, data = $5, gas = $6, max_fee = $7, priority_fee = $8, hash = $9, raw = $10,
    signed_at = $11, sent_at = NULL, block_number = NULL, block_hash = NULL
  WHERE t.state = 'lost'
  RETURNING id, hash
), named AS (
  INSERT INTO facilitator_hash (hash, transaction_id) SELECT hash, id FROM made ON CONFLICT DO NOTHING
)
SELECT id FROM made`

function valuesOf(signing: Signing): unknown[] {
  const { digests, workerId, network, sponsor, nonce, target, data, gas, fees, hash, raw, now } = signing
  return [
    digests.map(toBytes),
    workerId,
    network,
    toBytes(sponsor),
    nonce,
    toBytes(target),
    toBytes(data),
    gas,
    String(fees.maxFeePerGas),
    String(fees.maxPriorityFeePerGas),
    toBytes(hash),
    toBytes(raw),
    now,
  ]
}

function transactionOf(
  id: bigint,
  { fees, now, ...signing }: Omit<Signing, 'workerId' | 'digests'>,
): SponsorTransaction {
  return {
    ...signing,
    id,
    state: 'signed',
    maxFee: fees.maxFeePerGas,
    priorityFee: fees.maxPriorityFeePerGas,
    bumps: 0,
    signedAt: now,
    sentAt: null,
    blockNumber: null,
    blockHash: null,
    hashes: [signing.hash],
  }
}

// A settlement is not carried by the transfer of nothing that takes its nonce, so it is not shown under that hash.
const REPLACE = `
WITH named AS (
  INSERT INTO facilitator_hash (hash, transaction_id) VALUES ($2, $1) ON CONFLICT DO NOTHING
), made AS (
  UPDATE facilitator_transaction
  SET hash = $2, raw = $3, max_fee = $4, priority_fee = $5, bumps = $10, state = 'signed', signed_at = $6,
    target = $7, data = $8, gas = $9
  WHERE id = $1 AND state IN ('signed', 'broadcast') RETURNING id, target <> sponsor AS carries
)
UPDATE facilitator_settlement s SET tx_hash = $2 FROM made
WHERE s.transaction_id = made.id AND made.carries AND s.state IN ('signed', 'broadcast')`

// Only the node's word: without it the transaction is sent once more.
const SENT = `
WITH made AS (
  UPDATE facilitator_transaction SET state = 'broadcast', sent_at = $2
  WHERE id = $1 AND state IN ('signed', 'broadcast') AND ${COMMITTED_SOON} RETURNING id
)
UPDATE facilitator_settlement s SET state = 'broadcast' FROM made WHERE s.transaction_id = made.id AND s.state = 'signed'`

const OPEN = (sponsor: string): string => `
SELECT t.*, ARRAY(SELECT h.hash FROM facilitator_hash h WHERE h.transaction_id = t.id) AS hashes
FROM facilitator_transaction t
WHERE t.network = $1 AND t.sponsor ${sponsor} AND t.state IN ('signed', 'broadcast', 'mined')
ORDER BY t.sponsor, t.nonce`

const OPEN_OTHERS = OPEN('<> ALL($2)')
