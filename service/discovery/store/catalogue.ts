import { columnsOf, fromRow, toBytes, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Entry, Filter, Listed } from '../model.ts'
import type { CatalogueStore } from '../ports.ts'
import { wordsOf } from '../rules/entry.ts'

/** The catalogue in PostgreSQL. */
export function createCatalogueStore(statements: Statements): CatalogueStore {
  return {
    async put(entry, most, now) {
      const [row] = await statements.run<{ id: bigint }>(PUT, [...valuesOf(entry), now, most], 'discovery_put')
      return row?.id ?? null
    },

    async change(entry) {
      await statements.run(CHANGE, valuesOf(entry), 'discovery_change')
    },

    async withdraw({ resource, tool, network, payTo }, now) {
      await statements.run(WITHDRAW, [resource, tool, network, toBytes(payTo), now], 'discovery_withdraw')
    },

    async removeOthers({ resource, tool, network }, recipients) {
      const values = [resource, tool, network, recipients.map(toBytes)]
      await statements.run(REMOVE_OTHERS, values, 'discovery_remove_others')
    },

    async removeUnverified({ resource, tool, network, scheme, payTo }) {
      const values = [resource, tool, network, scheme, toBytes(payTo)]
      await statements.run(REMOVE_UNVERIFIED, values, 'discovery_remove_unverified')
    },

    async count(calls, now) {
      const columns = columnsOf(calls, 'resource', 'settled', 'failed', 'waitedMs', 'timed')
      const payers = calls.map(({ payer }) => toBytes(payer))
      await statements.run(COUNT, [...columns, payers, now], 'discovery_count')
    },

    async list(filter, { limit, offset }) {
      const values = [...filtersOf(filter), limit, offset]
      return (await statements.run<ListedRow>(LIST, values, 'discovery_list')).map((row) => fromRow(row))
    },

    async total(filter) {
      const [row] = await statements.run<{ total: bigint }>(TOTAL, filtersOf(filter), 'discovery_total')
      return Number(row?.total ?? 0)
    },

    async search(query, filter, { limit, offset, most }) {
      const values = [...filtersOf(filter), query, most, limit, offset]
      // Without a name, so that it is planned for these words: a rare word is found by its index, a common one without.
      return (await statements.run<ListedRow>(SEARCH, values)).map((row) => fromRow(row))
    },

    async ofMerchant(payTo, { limit, offset }) {
      const own = [toBytes(payTo)]
      const [rows, [count]] = await Promise.all([
        statements.run<ListedRow>(OF_MERCHANT, [...own, limit, offset], 'discovery_of_merchant'),
        statements.run<{ total: bigint }>(TOTAL_OF_MERCHANT, own, 'discovery_total_of_merchant'),
      ])
      return { entries: rows.map((row) => fromRow(row)), total: Number(count?.total ?? 0) }
    },
  }
}

type ListedRow = RowOf<Listed>

const COLUMNS = `r.id, r.resource, r.tool, r.type, r.x402_version, r.accepts, r.description, r.mime_type, r.service_name,
  r.tags, r.icon_url, r.extensions, r.payers, r.calls, r.last_at, r.verified_at`

function filtersOf({ type, payTo, scheme, network, extension }: Filter): unknown[] {
  return [type, payTo === null ? null : toBytes(payTo), scheme, network, extension]
}

const FILTERS = `NOT shadowed AND withdrawn_at IS NULL AND ($1::text IS NULL OR type = $1) AND ($2::bytea IS NULL OR pay_to = $2)
  AND ($3::text IS NULL OR scheme = $3) AND ($4::text IS NULL OR network = $4)
  AND ($5::text IS NULL OR $5 = ANY (extension_keys))`

// The inner query needs only the index, so a late page reads no row that it does not show.
const LIST = `
SELECT ${COLUMNS} FROM discovery_resource r
WHERE r.id = ANY (ARRAY(
  SELECT id FROM discovery_resource WHERE ${FILTERS} ORDER BY score DESC, id LIMIT $6 OFFSET $7))
ORDER BY r.score DESC, r.id`

const TOTAL = `SELECT count(*) AS total FROM discovery_resource WHERE ${FILTERS}`

// A word that thousands of entries have says little, and comparing all of them would take long. So some entries with the
// words are compared, and those among the best of all entries that have them.
const SEARCH = `
WITH matching AS MATERIALIZED (
  SELECT id, words, score FROM discovery_resource WHERE ${FILTERS} AND words @@ to_tsquery('english', $6) LIMIT 300
), top AS MATERIALIZED (
  SELECT id, words, score FROM discovery_resource WHERE ${FILTERS} ORDER BY score DESC, id LIMIT 200
), found AS MATERIALIZED (
  SELECT id, words, score FROM matching
  UNION ALL
  SELECT id, words, score FROM top
  WHERE words @@ to_tsquery('english', $6) AND NOT EXISTS (SELECT FROM matching m WHERE m.id = top.id)
  ORDER BY score DESC, id LIMIT $7
), best AS MATERIALIZED (
  SELECT id, ts_rank(words, to_tsquery('english', $6)) * (1 + ln(1 + score)) AS worth FROM found
  ORDER BY worth DESC, id LIMIT $8 OFFSET $9
)
SELECT ${COLUMNS} FROM best JOIN discovery_resource r ON r.id = best.id ORDER BY best.worth DESC, r.id`

const OF_MERCHANT = `
SELECT ${COLUMNS} FROM discovery_resource r WHERE r.pay_to = $1 AND r.withdrawn_at IS NULL
ORDER BY r.score DESC, r.id LIMIT $2 OFFSET $3`

const TOTAL_OF_MERCHANT = 'SELECT count(*) AS total FROM discovery_resource WHERE pay_to = $1 AND withdrawn_at IS NULL'

/** The entries of a recipient ($5) at the host of a resource ($1), as an index has them. */
export function entriesBeside(most: string): string {
  return `SELECT FROM discovery_resource m WHERE m.pay_to = $5 AND ${hostOf('m.resource')} = ${hostOf('$1')} LIMIT ${most}`
}

function hostOf(resource: string): string {
  return `rtrim(split_part(split_part(${resource}, '/', 3), ':', 1), '.')`
}

const WORDS = `setweight(to_tsvector('english', $16), 'A') || setweight(to_tsvector('english', $17), 'B')
  || setweight(to_tsvector('english', $18), 'C') || setweight(to_tsvector('english', $19), 'D')`

const CHANGE = `
UPDATE discovery_resource SET type = $6, x402_version = $7, accepts = $8::json, description = $9, mime_type = $10,
  service_name = $11, tags = $12::text[], icon_url = $13, extensions = $14::json, extension_keys = $15::text[],
  words = ${WORDS}, withdrawn_at = NULL
WHERE resource = $1 AND tool = $2 AND network = $3 AND scheme = $4 AND pay_to = $5`

const WITHDRAW = `
UPDATE discovery_resource SET withdrawn_at = $5
WHERE resource = $1 AND tool = $2 AND network = $3 AND pay_to = $4 AND withdrawn_at IS NULL`

// A merchant that has all that it may have can still update its own entries. No sale takes longer than an hour.
const PUT = `
INSERT INTO discovery_resource AS r
  (resource, tool, network, scheme, pay_to, type, x402_version, accepts, description, mime_type, service_name, tags,
   icon_url, extensions, extension_keys, words, shadowed, first_at, last_at, verified_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8::json, $9, $10, $11, $12::text[], $13, $14::json, $15::text[],
  ${WORDS},
  EXISTS (
    SELECT FROM discovery_resource o
    WHERE o.resource = $1 AND o.tool = $2 AND o.network = $3 AND o.pay_to <> $5 AND NOT o.shadowed), $20, $20, $20
WHERE (SELECT count(*) FROM (${entriesBeside('$21')}) listed) < $21
  OR EXISTS (
    SELECT FROM discovery_resource k
    WHERE k.pay_to = $5 AND k.resource = $1 AND k.tool = $2 AND k.network = $3 AND k.scheme = $4)
ON CONFLICT (pay_to, resource, tool, network, scheme) DO UPDATE SET
  type = excluded.type, x402_version = excluded.x402_version, accepts = excluded.accepts,
  description = excluded.description, mime_type = excluded.mime_type, service_name = excluded.service_name,
  tags = excluded.tags, icon_url = excluded.icon_url, extensions = excluded.extensions,
  extension_keys = excluded.extension_keys, words = excluded.words, last_at = greatest(r.last_at, excluded.last_at),
  verified_at = excluded.verified_at,
  withdrawn_at = CASE WHEN r.withdrawn_at > excluded.last_at - interval '1 hour' THEN r.withdrawn_at END
RETURNING r.id`

const REMOVE_OTHERS =
  'DELETE FROM discovery_resource WHERE resource = $1 AND tool = $2 AND network = $3 AND pay_to <> ALL ($4::bytea[])'

const REMOVE_UNVERIFIED = `
DELETE FROM discovery_resource
WHERE pay_to = $5 AND resource = $1 AND tool = $2 AND network = $3 AND scheme = $4 AND verified_at IS NULL`

function valuesOf(entry: Entry): unknown[] {
  const { name, tags, description, rest } = wordsOf(entry)
  return [
    entry.resource,
    entry.tool,
    entry.network,
    entry.scheme,
    toBytes(entry.payTo),
    entry.type,
    entry.x402Version,
    JSON.stringify(entry.accepts),
    entry.description,
    entry.mimeType,
    entry.serviceName,
    entry.tags,
    entry.iconUrl,
    JSON.stringify(entry.extensions),
    entry.extensionKeys,
    name,
    tags,
    description,
    rest,
  ]
}

// An entry may have been removed since: then nothing is counted.
const COUNT = `
INSERT INTO discovery_payer AS p (resource_id, payer, settled, failed, waited_ms, timed, last_at)
SELECT c.resource, c.payer, c.settled, c.failed, c.waited, c.timed, $7
FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::int[], $6::bytea[])
  AS c(resource, settled, failed, waited, timed, payer)
JOIN discovery_resource r ON r.id = c.resource
ORDER BY c.resource, c.payer
ON CONFLICT (resource_id, payer) DO UPDATE SET
  settled = least(p.settled::bigint + excluded.settled, 1000000000)::int,
  failed = least(p.failed::bigint + excluded.failed, 1000000000)::int,
  waited_ms = p.waited_ms + excluded.waited_ms,
  timed = least(p.timed::bigint + excluded.timed, 1000000000)::int,
  last_at = greatest(p.last_at, excluded.last_at)`
