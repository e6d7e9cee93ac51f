import { fromRow, toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Check, Claim } from '../model.ts'
import type { CheckStore } from '../ports.ts'
import { entriesBeside } from './catalogue.ts'

/** What waits for the answer of an address, and what came of it. */
export function createCheckStore(statements: Statements): CheckStore {
  return {
    async claim(claim, most, now) {
      const { address, host, method, amount } = claim
      const values = [...keyOf(claim), address, host, method, amount, now, most]
      const [row] = await statements.run<ClaimedRow>(CLAIM, values, 'discovery_claim')
      if (row?.state == null) return null
      return { state: row.state, listed: row.id === null ? null : { id: row.id, isSame: row.same === true } }
    },

    async due({ now, until, hostFrom, limit }) {
      const rows = await statements.run<CheckRow>(DUE, [now, until, hostFrom, limit], 'discovery_checks_due')
      return rows.map(({ pay_to: payTo, ...row }) => ({ ...fromRow(row), payTo: toHex(payTo) }))
    },

    async end({ id }, { state, until, now }) {
      await statements.run(END, [id, until, state, now], 'discovery_check_end')
    },

    async retry({ id }, { at, until }) {
      await statements.run(RETRY, [id, until, at], 'discovery_check_retry')
    },
  }
}

interface ClaimedRow {
  state: 'waiting' | 'listed' | 'refused' | null
  id: bigint | null
  same: boolean | null
}

type CheckRow = Omit<RowOf<Check>, 'pay_to'> & { pay_to: Buffer }

function keyOf({ resource, tool, network, scheme, payTo }: Claim): unknown[] {
  return [resource, tool, network, scheme, toBytes(payTo)]
}

// What was listed or refused is asked again only for other terms: the row is removed after a day. Many addresses share a
// template, and one that refused says nothing about the others.
const IS_KNOWN = `((c.method, c.amount) = (excluded.method, excluded.amount)
      AND (c.state <> 'refused' OR c.address = excluded.address))`

const CLAIM = `
WITH listed AS (
  UPDATE discovery_resource r SET last_at = greatest(r.last_at, $10)
  WHERE pay_to = $5 AND resource = $1 AND tool = $2 AND network = $3 AND scheme = $4
  RETURNING id, accepts->0->>'amount' = $9 AND verified_at IS NOT NULL AS same
), claimed AS (
  INSERT INTO discovery_check AS c
    (resource, tool, network, scheme, pay_to, address, host, method, amount, state, check_at, changed_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting', $10, $10
  WHERE EXISTS (SELECT FROM listed)
    OR EXISTS (
      SELECT FROM discovery_check k
      WHERE k.pay_to = $5 AND k.resource = $1 AND k.tool = $2 AND k.network = $3 AND k.scheme = $4)
    OR ((SELECT count(*) FROM (${entriesBeside('$11')}) one) < $11
      AND (SELECT count(*) FROM (SELECT FROM discovery_check m WHERE m.pay_to = $5 AND m.host = $7 LIMIT $11) one) < $11)
  ON CONFLICT (pay_to, resource, tool, network, scheme) DO UPDATE SET
    address = excluded.address, host = excluded.host, method = excluded.method, amount = excluded.amount,
    state = CASE WHEN ${IS_KNOWN} THEN c.state ELSE 'waiting' END,
    attempts = CASE WHEN ${IS_KNOWN} THEN c.attempts ELSE 0 END,
    check_at = CASE WHEN ${IS_KNOWN} THEN c.check_at ELSE excluded.check_at END,
    changed_at = CASE WHEN ${IS_KNOWN} THEN c.changed_at ELSE excluded.changed_at END
  RETURNING state
)
SELECT (SELECT state FROM claimed) AS state, (SELECT id FROM listed) AS id, (SELECT same FROM listed) AS same`

// One for each host, and none for a host that was asked since $3.
const DUE = `
UPDATE discovery_check c SET check_at = $2, asked_at = $1, changed_at = $1, attempts = c.attempts + 1
FROM (
  SELECT d.id FROM discovery_check d
  WHERE d.check_at <= $1
    AND NOT EXISTS (SELECT FROM discovery_check o WHERE o.host = d.host AND o.asked_at > $3)
    AND NOT EXISTS (
      SELECT FROM discovery_check e
      WHERE e.host = d.host AND e.check_at <= $1 AND (e.check_at, e.id) < (d.check_at, d.id))
  ORDER BY d.check_at LIMIT $4 FOR UPDATE SKIP LOCKED
) d WHERE c.id = d.id
RETURNING c.id, c.resource, c.tool, c.network, c.scheme, c.pay_to, c.address, c.host, c.method, c.amount, c.attempts`

// Only what was asked: other terms that were claimed meanwhile are asked next.
const END = `UPDATE discovery_check SET state = $3, check_at = NULL, changed_at = $4 WHERE id = $1 AND check_at = $2`

const RETRY = `UPDATE discovery_check SET check_at = $3 WHERE id = $1 AND check_at = $2`
