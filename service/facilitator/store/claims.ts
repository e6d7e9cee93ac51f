import { createHash } from 'node:crypto'
import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { toBytes } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Settlement } from '../model.ts'
import type { Claim, SettlementStore } from '../ports.ts'
import { COMMITTED_SOON, fromSettlementRow, SETTLEMENT, type SettlementRow } from './rows.ts'

type Claims = Pick<
  SettlementStore,
  'find' | 'findByNonce' | 'claim' | 'take' | 'offer' | 'confirm' | 'withdraw' | 'gasUsed'
>

/** Claims of authorizations, and which operation gets their success. */
export function claims(statements: Statements): Claims {
  async function find(digests: readonly Hex[]): Promise<ReadonlyMap<Hex, Settlement>> {
    const rows = await statements.run<SettlementRow>(FIND, [digests.map(toBytes)], 'facilitator_find')
    return new Map(rows.map(fromSettlementRow).map((settlement) => [settlement.digest, settlement]))
  }

  async function findByNonce(network: NetworkName, payer: Address, nonce: Hex): Promise<Settlement | null> {
    const [row] = await statements.run<SettlementRow>(
      `SELECT ${SETTLEMENT} FROM facilitator_settlement s WHERE network = $1 AND payer = $2 AND nonce = $3`,
      [network, toBytes(payer), toBytes(nonce)],
      'facilitator_find_by_nonce',
    )
    return row === undefined ? null : fromSettlementRow(row)
  }

  return {
    find,
    findByNonce,

    async claim(claim) {
      const { digest } = claim
      const [made] = await statements.run<SettlementRow>(CLAIM, valuesOf(claim), 'facilitator_claim')
      if (made !== undefined) return fromSettlementRow(made)
      return (await find([digest])).get(digest) ?? null
    },

    async take(network, workerId, { sponsor, limit, now, until }) {
      const values = [network, workerId, limit, now, until, toBytes(sponsor)]
      const rows = await statements.run<SettlementRow & { turn: bigint }>(TAKE, values, 'facilitator_take')
      const inTurn = rows.sort(
        (one, other) => Number(one.turn - other.turn) || one.claimed_at.getTime() - other.claimed_at.getTime(),
      )
      return inTurn.map(fromSettlementRow)
    },

    async offer(digest, { operation: to, ownsResult }, now, until) {
      const [row] = await statements.run<{ handed: boolean | null }>(
        ownsResult ? OFFER : OFFER_SOON,
        [toBytes(digest), to, ownsResult, now, until],
        ownsResult ? 'facilitator_offer' : 'facilitator_offer_soon',
      )
      if (row !== undefined) return 'given'
      const settlement = (await find([digest])).get(digest)
      return settlement?.handedOutAt == null ? 'busy' : 'handed-out'
    },

    async confirm(digest, to, now) {
      await statements.run(
        'UPDATE facilitator_settlement SET handed_out_at = $3 WHERE digest = $1 AND offered_to = $2 AND handed_out_at IS NULL',
        [toBytes(digest), to, now],
        'facilitator_confirm',
      )
    },

    async withdraw(digest, to) {
      await statements.run(
        `UPDATE facilitator_settlement SET offered_to = NULL, offered_until = NULL
         WHERE digest = $1 AND offered_to = $2 AND handed_out_at IS NULL`,
        [toBytes(digest), to],
        'facilitator_withdraw',
      )
    },

    async gasUsed(network, { payer, recipient, caller }, day) {
      const to = toBytes(recipient)
      const by = toCaller(caller)
      const [row] = await statements.run<Record<string, string>>(
        GAS_USED,
        [
          network,
          day.toISOString().slice(0, 10),
          payer === null ? null : toBytes(payer),
          recipientKey(to),
          to,
          by === null ? null : callerKey(by),
          by,
        ],
        'facilitator_gas_used',
      )
      const of = (name: string): bigint => BigInt(row?.[name] ?? 0)
      const shares = (what: 'spent' | 'pending') => ({
        network: of(what),
        payer: of(`payer_${what}`),
        recipient: of(`recipient_${what}`),
        caller: of(`caller_${what}`),
      })
      return { spent: shares('spent'), pending: shares('pending') }
    },
  }
}

/** Payers, recipients and callers share one table. All keys except a payer's have a prefix of one byte. */
export function recipientKey(recipient: Buffer): Buffer {
  return Buffer.concat([Buffer.from([1]), recipient])
}

export function callerKey(caller: Buffer): Buffer {
  return Buffer.concat([Buffer.from([2]), caller])
}

/** A seller asks for captures and voids, so their gas does not count for the payer. */
export const COUNTS_FOR_PAYER = "(operation IS NULL OR operation NOT IN ('capture', 'void'))"

/** The stored form of a caller: a hash, not the address itself. */
function toCaller(caller: string | null): Buffer | null {
  return caller === null ? null : createHash('sha256').update(`caller ${caller}`).digest().subarray(0, 20)
}

const GAS_USED = `
WITH spent AS (
  SELECT coalesce(sum(spent) FILTER (WHERE payer = ''), 0) AS spent,
    coalesce(sum(spent) FILTER (WHERE payer = $3::bytea), 0) AS payer_spent,
    coalesce(sum(spent) FILTER (WHERE payer = $4), 0) AS recipient_spent,
    coalesce(sum(spent) FILTER (WHERE payer = $6::bytea), 0) AS caller_spent
  FROM facilitator_gas WHERE network = $1 AND day = $2::date AND payer IN ('', $3::bytea, $4, $6::bytea)
), pending AS (
  SELECT coalesce(sum(gas), 0) AS pending, coalesce(sum(gas) FILTER (WHERE payer = $3::bytea AND ${COUNTS_FOR_PAYER}), 0) AS payer_pending,
    coalesce(sum(gas) FILTER (WHERE coalesce(recipient, pay_to) = $5), 0) AS recipient_pending,
    coalesce(sum(gas) FILTER (WHERE caller = $7::bytea), 0) AS caller_pending
  FROM facilitator_settlement WHERE network = $1 AND state IN ('claimed', 'signed', 'broadcast')
)
SELECT * FROM spent, pending`

const FIND = `SELECT ${SETTLEMENT} FROM facilitator_settlement s WHERE digest = ANY($1)`

// No row means that the digest exists already, that another digest has the nonce, or that another operation keeps the
// payment of the escrow busy or has changed it since its state was read. What is for the escrow is reserved for its operator from the beginning: a version of this service that
// does not know operators takes nothing that is reserved.
const CLAIM = `
INSERT INTO facilitator_settlement AS s
  (digest, network, asset, payer, nonce, pay_to, value, valid_after, valid_before, signature, payer_has_code, alone, gas,
   seen_block, claimed_at, caller, operation, operator, payment_hash, busy, recipient, call_data, authorizer, taken_until)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $21::boolean OR $17::bytea IS NOT NULL, $12,
  $13, $14, $15, $16::facilitator_operation, $17, $18, $18, $19, $20, $22,
  CASE WHEN $17 IS NOT NULL THEN 'infinity'::timestamptz END
WHERE NOT EXISTS (
  SELECT FROM facilitator_settlement o WHERE o.payment_hash = $18::bytea AND o.digest <> $1::bytea
    AND (o.state IN ('claimed', 'signed', 'broadcast') OR (o.state = 'settled' AND o.block_number > $13::bigint)))
ON CONFLICT DO NOTHING
RETURNING ${SETTLEMENT}`

function valuesOf(claim: Claim): unknown[] {
  const { digest, network, asset, authorization, operation, payerHasCode, alone, gas, seenBlock, caller, now } = claim
  const { from, nonce, to, value, validAfter, validBefore, signature } = authorization
  return [
    toBytes(digest),
    network,
    toBytes(asset),
    toBytes(from),
    toBytes(nonce),
    toBytes(to),
    String(value),
    String(validAfter),
    String(validBefore),
    toBytes(signature),
    payerHasCode,
    gas,
    seenBlock,
    now,
    toCaller(caller),
    ...(operation === null
      ? [null, null, null, null, null]
      : [
          operation.type,
          ...[operation.operator, operation.paymentHash, operation.recipient, operation.data].map(toBytes),
        ]),
    alone,
    operation?.authorizer == null ? null : toBytes(operation.authorizer),
  ]
}

const FREE = `network = $1 AND state = 'claimed' AND valid_before > extract(epoch FROM $4::timestamptz)
    AND CASE WHEN operator IS NULL THEN taken_until IS NULL OR taken_until <= $4 OR taken_by = $2 ELSE operator = $6 END`

// A worker marks the settlements that it is about to sign, because signing settlements that another worker has taken is
// wasted work. The mark is short, so that a worker that died does not keep them; a crash that takes it back does no harm. What is for the escrow stays reserved
// for its operator, whose lease only one worker has. Recipients take turns, so one recipient's many settlements do not delay
// the others'. Expired ones are left to the reconciler: until the nodes agree on their end they would fill the places of those that can still
// be sent.
const TAKE = `
WITH waiting AS MATERIALIZED (
  SELECT digest AS waits, claimed_at AS since,
    row_number() OVER (PARTITION BY coalesce(recipient, pay_to) ORDER BY claimed_at, digest) AS turn
  FROM facilitator_settlement WHERE ${FREE}
), mine AS MATERIALIZED (
  SELECT f.digest, turn FROM waiting JOIN facilitator_settlement f ON f.digest = waits WHERE ${FREE}
  ORDER BY turn, since LIMIT $3 FOR UPDATE OF f SKIP LOCKED
)
UPDATE facilitator_settlement s
SET taken_by = $2, taken_until = CASE WHEN s.operator IS NULL THEN $5::timestamptz ELSE 'infinity' END
FROM mine WHERE s.digest = mine.digest AND ${COMMITTED_SOON} RETURNING ${SETTLEMENT}, mine.turn`

// The lock on one row decides among all processes. Only the purchase that has the authorization gets the success,
// because everybody can read an authorization once its transaction is under way. An expired offer was made by a process
// that died, or over a connection whose delivery was never confirmed.
const OFFER_WHERE = (condition: string): string => `
UPDATE facilitator_settlement SET offered_to = $2, offered_until = $5,
  handed_out_at = CASE WHEN handed_out_at IS NULL AND $3 THEN $4 ELSE handed_out_at END
WHERE digest = $1 AND state = 'settled'
  AND (offered_to = $2 OR (handed_out_at IS NULL AND (offered_to IS NULL OR offered_until <= $4)))
  AND NOT EXISTS (SELECT FROM facilitator_purchase p WHERE p.digest = $1 AND p.buys <> $2)
  AND ${condition}
RETURNING handed_out_at IS NOT NULL AS handed`

const OFFER = OFFER_WHERE('true')
// The confirmation after the answer is durable, and what was committed before it is durable with it. Until then a crash
// ends the offer in any case.
const OFFER_SOON = OFFER_WHERE(COMMITTED_SOON)
