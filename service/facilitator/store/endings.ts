import { toBytes, toHex } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import { shareCost } from '../rules.ts'
import type { SettlementStore } from '../ports.ts'
import { callerKey, COUNTS_FOR_PAYER, recipientKey } from './claims.ts'
import { COMMITTED_SOON, fromSettlementRow, SETTLEMENT, type SettlementRow } from './rows.ts'

type Endings = Pick<
  SettlementStore,
  'bearers' | 'mined' | 'vanished' | 'finish' | 'lose' | 'settledElsewhere' | 'fail' | 'release' | 'revive' | 'loose'
>

/** Stores what happened on the chain. Every statement names the states that it may change, so it may be repeated. */
export function endings(statements: Statements): Endings {
  return {
    async bearers({ id }) {
      const rows = await statements.run<{ payer: Buffer | null; pay_to: Buffer; caller: Buffer | null }>(
        `SELECT CASE WHEN ${COUNTS_FOR_PAYER} THEN payer END AS payer, coalesce(recipient, pay_to) AS pay_to, caller
         FROM facilitator_settlement WHERE transaction_id = $1`,
        [id],
        'facilitator_payers',
      )
      return rows.map(({ payer, pay_to, caller }) => [
        ...(payer === null ? [] : [payer]),
        recipientKey(pay_to),
        ...(caller === null ? [] : [callerKey(caller)]),
      ])
    },

    async mined(transaction, receipt, { settled, bearers }, now) {
      const shares = bearers.length === 0 ? [] : shareCost(receipt.cost, bearers.length)
      const counted = bearers.flatMap((keys, place) => keys.map((key) => ({ key, share: String(shares[place]) })))
      await statements.run(
        MINED,
        [
          transaction.id,
          receipt.blockNumber,
          toBytes(receipt.blockHash),
          toBytes(receipt.hash),
          settled.map(toBytes),
          now,
          transaction.network,
          now.toISOString().slice(0, 10),
          counted.map(({ key }) => key),
          counted.map(({ share }) => share),
          String(receipt.cost),
        ],
        'facilitator_mined',
      )
    },

    async vanished({ id }) {
      const rows = await statements.run<{ digest: Buffer; handed: boolean }>(VANISHED, [id], 'facilitator_vanished')
      return rows.filter(({ handed }) => handed).map(({ digest }) => toHex(digest))
    },

    async finish({ id }) {
      await statements.run(FINISH, [id], 'facilitator_finish')
    },

    async lose({ id }) {
      const rows = await statements.run(LOSE, [id], 'facilitator_lose')
      return rows.length > 0
    },

    async settledElsewhere({ digest }, { hash, blockNumber }, final, now) {
      await statements.run(
        `UPDATE facilitator_settlement
         SET state = 'settled', external = true, tx_hash = $2, block_number = $3, final = $4, ended_at = coalesce(ended_at, $5),
           taken_by = NULL, taken_until = NULL, busy = NULL
         WHERE digest = $1 AND (state IN ('claimed', 'signed', 'broadcast') OR (state = 'settled' AND external))`,
        [toBytes(digest), toBytes(hash), blockNumber, final, now],
        'facilitator_settled_elsewhere',
      )
    },

    async fail({ digest }, reason, ours, now) {
      await statements.run(
        `UPDATE facilitator_settlement SET state = 'failed', reason = $2, ours = $3, ended_at = $4, taken_by = NULL, taken_until = NULL, busy = NULL,
           final = NOT EXISTS (
             SELECT FROM facilitator_transaction t
             WHERE t.id = transaction_id AND t.state IN ('signed', 'broadcast', 'mined')
           )
         WHERE digest = $1 AND state IN ('claimed', 'signed', 'broadcast')`,
        [toBytes(digest), reason, ours, now],
        'facilitator_fail',
      )
    },

    async release({ digest }, payerHasCode) {
      await statements.run(
        `UPDATE facilitator_settlement
         SET state = 'claimed', alone = true, payer_has_code = $2, transaction_id = NULL, tx_hash = NULL, external = false, block_number = NULL, ended_at = NULL,
           ${RESERVED}
         WHERE digest = $1 AND (state IN ('signed', 'broadcast') OR (state = 'settled' AND external AND NOT final))`,
        [toBytes(digest), payerHasCode],
        'facilitator_release',
      )
    },

    async revive(digest, { payerHasCode, gas }) {
      await statements.run(
        `UPDATE facilitator_settlement
         SET state = 'claimed', alone = true, payer_has_code = $2, gas = $3, reason = NULL, ours = false, ended_at = NULL, final = false,
           transaction_id = NULL, tx_hash = NULL, external = false, block_number = NULL, busy = payment_hash, ${RESERVED}
         WHERE digest = $1 AND state = 'failed'
           AND NOT EXISTS (SELECT FROM facilitator_settlement o WHERE o.busy = facilitator_settlement.payment_hash)`,
        [toBytes(digest), payerHasCode, gas],
        'facilitator_revive',
      )
    },

    async loose(network, at, limit) {
      const rows = await statements.run<SettlementRow>(LOOSE, [network, at, limit], 'facilitator_loose')
      return rows.map(fromSettlementRow)
    },
  }
}

/** What is for the escrow waits for its operator alone. */
const RESERVED = "taken_until = CASE WHEN operator IS NOT NULL THEN 'infinity'::timestamptz END"

// The cost is charged once for each block: a second report of the same block changes nothing. The chain has all of it,
// so after a crash of the database it is read again, and what is sold for it is written down durably after it.
// The last condition locks the transaction before its settlements, as SENT does, which may run at the same moment.
const MINED = `
WITH told AS (
  UPDATE facilitator_transaction SET state = 'mined', block_number = $2, block_hash = $3, hash = $4
  WHERE id = $1 AND state IN ('signed', 'broadcast', 'mined') AND block_hash IS DISTINCT FROM $3
    AND ${COMMITTED_SOON} RETURNING id
), payers AS (
  INSERT INTO facilitator_gas AS g (network, day, payer, spent)
  SELECT $7, $8::date, part.payer, sum(part.share)
  FROM told, unnest($9::bytea[], $10::numeric[]) AS part (payer, share) GROUP BY part.payer ORDER BY part.payer
  ON CONFLICT (network, day, payer) DO UPDATE SET spent = g.spent + excluded.spent
), everybody AS (
  INSERT INTO facilitator_gas AS g (network, day, payer, spent) SELECT $7, $8::date, '', $11::numeric FROM told
  ON CONFLICT (network, day, payer) DO UPDATE SET spent = g.spent + excluded.spent
)
UPDATE facilitator_settlement SET state = 'settled', tx_hash = $4, block_number = $2, ended_at = $6, busy = NULL
WHERE transaction_id = $1 AND digest = ANY($5) AND state IN ('signed', 'broadcast')
  AND (SELECT count(*) FROM told) >= 0`

// A failure that was read from that block is open again too. Settlements by other parties are not affected. A payment of
// the escrow is not busy again: what was claimed since has a later nonce of the same sponsor, so the order is the same.
const VANISHED = `
WITH back AS (
  UPDATE facilitator_transaction SET state = 'signed', sent_at = NULL, block_number = NULL, block_hash = NULL
  WHERE id = $1 AND state = 'mined' RETURNING id, hash
)
UPDATE facilitator_settlement s
SET state = 'signed', tx_hash = back.hash, block_number = NULL, ended_at = NULL, reason = NULL, ours = false
FROM back WHERE s.transaction_id = back.id AND s.state IN ('settled', 'failed') AND NOT s.external AND NOT s.final
RETURNING s.digest, s.offered_to IS NOT NULL AS handed`

/** The last check of a transaction: only when it has settled or ended all of its settlements. */
const LAST = (states: string): string => `
id = $1 AND state IN (${states}) AND NOT EXISTS (
  SELECT FROM facilitator_settlement WHERE transaction_id = $1 AND state IN ('signed', 'broadcast'))`

const FINISH = `
WITH done AS (
  UPDATE facilitator_transaction SET state = 'final' WHERE ${LAST(`'mined'`)} AND ${COMMITTED_SOON} RETURNING id
)
UPDATE facilitator_settlement s SET final = true FROM done
WHERE s.transaction_id = done.id AND s.state IN ('settled', 'failed') AND NOT s.external`

const LOSE = `
WITH done AS (
  UPDATE facilitator_transaction SET state = 'lost' WHERE ${LAST(`'signed', 'broadcast', 'mined'`)} RETURNING id
), ended AS (
  UPDATE facilitator_settlement s SET final = true FROM done
  WHERE s.transaction_id = done.id AND s.state = 'failed' AND NOT s.external
)
SELECT id FROM done`

const LOOSE = `
(SELECT ${SETTLEMENT} FROM facilitator_settlement s
 WHERE network = $1 AND state IN ('claimed', 'signed', 'broadcast') AND claimed_at <= $2
   AND valid_before < extract(epoch FROM $2::timestamptz)
 ORDER BY claimed_at LIMIT $3)
UNION ALL
(SELECT ${SETTLEMENT} FROM facilitator_settlement s
 WHERE network = $1 AND external AND NOT final AND state = 'settled' LIMIT $3)`
