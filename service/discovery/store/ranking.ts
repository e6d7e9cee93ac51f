import type { NetworkName } from '../../chain/networks.ts'
import { columnsOf, toBytes, toHex } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { FundingStore, RankingStore } from '../ports.ts'

/** What the ranking reads and writes. */
export function createRankingStore(statements: Statements): RankingStore & FundingStore {
  return { ...ranking(statements), ...funding(statements) }
}

function ranking(statements: Statements): RankingStore {
  return {
    async resources() {
      const rows = await statements.run<{ id: bigint; pay_to: Buffer; place: string; first_at: Date; sold: boolean }>(
        `SELECT id, pay_to, concat_ws(' ', network, tool, resource) AS place, first_at, withdrawn_at IS NULL AS sold
         FROM discovery_resource`,
        [],
        'discovery_resources',
      )
      return rows.map(({ id, pay_to: payTo, place, first_at: firstAt, sold: isSold }) => ({
        id,
        merchant: toHex(payTo),
        place,
        firstAt,
        isSold,
      }))
    },

    async visits(since, most) {
      const rows = await statements.run<VisitRow>(VISITS, [since, most], 'discovery_visits')
      return rows.map(({ resource_id: resource, payer, waited_ms: waitedMs, last_at: lastAt, ...counts }) => ({
        ...counts,
        resource,
        payer: toHex(payer),
        waitedMs: Number(waitedMs),
        lastAt,
      }))
    },

    async transfers(most) {
      const rows = await statements.run<{ sender: Buffer; recipient: Buffer }>(
        'SELECT sender, recipient FROM discovery_transfer ORDER BY seen_at DESC LIMIT $1',
        [most],
        'discovery_transfers',
      )
      return rows.map(({ sender, recipient }) => ({ from: toHex(sender), to: toHex(recipient) }))
    },

    async save(ranks) {
      const all = [...ranks].map(([id, one]) => ({ id, ...one }))
      for (let start = 0; start < all.length; start += ROWS_MAX) {
        const part = all.slice(start, start + ROWS_MAX)
        await statements.run(SAVE, columnsOf(part, 'id', 'score', 'payers', 'calls', 'shadowed'), 'discovery_save')
      }
    },
  }
}

const ROWS_MAX = 1_000

interface VisitRow {
  resource_id: bigint
  payer: Buffer
  settled: number
  failed: number
  waited_ms: bigint
  timed: number
  last_at: Date
}

const VISITS = `
SELECT resource_id, payer, settled, failed, waited_ms, timed, last_at FROM discovery_payer
WHERE last_at >= $1 ORDER BY last_at DESC LIMIT $2`

// Only rows that change: most ranks stay as they are.
const SAVE = `
UPDATE discovery_resource r SET score = n.score, payers = n.payers, calls = n.calls, shadowed = n.shadowed
FROM unnest($1::bigint[], $2::float8[], $3::int[], $4::int[], $5::boolean[]) AS n(id, score, payers, calls, shadowed)
WHERE r.id = n.id AND (r.score, r.payers, r.calls, r.shadowed) IS DISTINCT FROM (n.score, n.payers, n.calls, n.shadowed)`

function funding(statements: Statements): FundingStore {
  return {
    async addPayers(now, most) {
      await statements.run(ADD_PAYERS, [now, most], 'discovery_add_payers')
    },

    async open(network, order, most) {
      const text = order === 'newest' ? OPEN_NEWEST : OPEN_WAITING
      const rows = await statements.run<OriginRow>(text, [network, most], `discovery_open_${order}`)
      return rows.map(({ address, next_block: nextBlock, last_block: lastBlock, ...rest }) => ({
        ...rest,
        address: toHex(address),
        nextBlock,
        lastBlock,
      }))
    },

    async found({ origins, transfers, nextBlock, lastBlock, depthMax }, now) {
      const [first] = origins
      if (first === undefined) return
      const values = [
        first.network,
        origins.map(({ address }) => toBytes(address)),
        transfers.map(({ from }) => toBytes(from)),
        transfers.map(({ to }) => toBytes(to)),
        nextBlock,
        lastBlock,
        now,
        first.depth < depthMax,
        first.depth + 1,
      ]
      await statements.run(FOUND, values, 'discovery_found')
    },
  }
}

interface OriginRow {
  network: NetworkName
  address: Buffer
  depth: number
  next_block: bigint | null
  last_block: bigint | null
}

const ADD_PAYERS = `
INSERT INTO discovery_origin (network, address, depth, updated_at)
SELECT DISTINCT r.network, p.payer, 1, $1::timestamptz
FROM discovery_payer p JOIN discovery_resource r ON r.id = p.resource_id
WHERE p.settled > 0
  AND NOT EXISTS (SELECT FROM discovery_origin o WHERE o.network = r.network AND o.address = p.payer)
LIMIT $2
ON CONFLICT DO NOTHING`

const OPEN_NEWEST = `
SELECT network, address, depth, next_block, last_block FROM discovery_origin
WHERE network = $1 AND open ORDER BY depth, next_block DESC NULLS FIRST LIMIT $2`

const OPEN_WAITING = `
SELECT network, address, depth, next_block, last_block FROM discovery_origin
WHERE network = $1 AND open ORDER BY updated_at, depth, next_block DESC LIMIT $2`

// An address is searched until some sender of money to it is known, or the end of the look-back is reached. The senders
// are searched next, where they are not too far from the payer.
const FOUND = `
WITH transfer AS (
  SELECT DISTINCT sender, recipient FROM unnest($3::bytea[], $4::bytea[]) AS t(sender, recipient)
), stored AS (
  INSERT INTO discovery_transfer (network, recipient, sender, seen_at)
  SELECT $1, recipient, sender, $7 FROM transfer
  ON CONFLICT (network, recipient, sender) DO UPDATE SET seen_at = excluded.seen_at
), next AS (
  INSERT INTO discovery_origin (network, address, depth, updated_at)
  SELECT DISTINCT $1, sender, $9::int, $7::timestamptz FROM transfer WHERE $8 AND NOT sender = ANY ($2::bytea[])
  ON CONFLICT DO NOTHING
)
UPDATE discovery_origin o SET next_block = $5, last_block = coalesce(o.last_block, $6), updated_at = $7,
  open = $5::bigint >= coalesce(o.last_block, $6::bigint)
    AND NOT EXISTS (SELECT FROM transfer t WHERE t.recipient = o.address)
WHERE o.network = $1 AND o.address = ANY ($2::bytea[])`
