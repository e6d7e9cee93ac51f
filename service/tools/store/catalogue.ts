import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Changes, Holdings, NewTool } from '../model/draft.ts'
import type { ToolId, UserId } from '../model/tool.ts'
import type { CatalogueStore, StoredProvider } from '../ports/keeping.ts'
import { addressOf, isNothing } from '../rules/change.ts'
import {
  ENTRY,
  PROVIDER,
  TOOL,
  toCollection,
  toEntry,
  toKnown,
  toPricing,
  toProvider,
  toTool,
  type CollectionRow,
  type EntryRow,
  type KnownRow,
  type ProviderRow,
  type ToolRow,
} from './rows.ts'

/** The catalogue in PostgreSQL. Whoever changes it holds its row, so its changes have an order that everybody sees. */
export function createCatalogueStore(statements: StatementPool): CatalogueStore {
  return {
    async lastChange(environment) {
      const [row] = await statements.run<{ change: bigint }>(LAST_CHANGE, [environment], 'tool_last_change')
      return row?.change ?? 0n
    },

    since: ({ environment, ownerId }, change, take) =>
      statements.together(async (inside) => {
        // One moment for all of it: a change that commits in between is the next reader's.
        await inside.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', [])
        const scope = [environment, ownerId ?? '']
        const stamped = await stampOf(inside, scope)
        // Every id comes behind the empty text.
        let last = { change: change + 1n, id: '' }
        for (;;) {
          const rows = await inside.run<EntryRow & { change: bigint }>(PAGE, [
            ...scope,
            last.change,
            last.id,
            PAGE_SIZE,
          ])
          const isWanted = rows.length === 0 || take(rows.map(({ change: _change, ...row }) => toEntry(row)))
          const end = rows.at(-1)
          if (end !== undefined) last = { change: end.change, id: end.id }
          if (!isWanted || rows.length < PAGE_SIZE) break
        }
        const providers = await inside.run<ProviderRow>(PROVIDERS, scope)
        const collections = await inside.run<CollectionRow>(COLLECTIONS, scope)
        return { ...stamped, providers: providers.map(toProvider), collections: collections.map(toCollection) }
      }),

    stamp: ({ environment, ownerId }) => stampOf(statements, [environment, ownerId ?? '']),

    async find(ids) {
      if (ids.length === 0) return []
      const rows = await statements.run<ToolRow>(FIND, [ids], 'tool_find')
      return rows.map(toTool)
    },

    async provider(environment, ownerId, slug) {
      const [row] = await statements.run<ProviderRow>(FIND_PROVIDER, [environment, ownerId ?? '', slug])
      return row === undefined ? null : toProvider(row)
    },

    change: (provider, decide, now, check) =>
      statements.together(async (inside) => {
        const { environment, slug, ownerId } = provider
        const owner = ownerId ?? ''
        await inside.run(LOCK, [environment])
        const known = await inside.run<KnownRow>(KNOWN, [environment, owner, slug])
        const changes = decide(known.map(toKnown))
        const [saved] = await inside.run(SAVE_PROVIDER, [...fromProvider(provider), now])
        const wrote = saved !== undefined || !isNothing(changes)
        if (wrote) await writeTools(inside, provider, changes, await nextChange(inside, environment), now)
        if (ownerId !== null && wrote) {
          await inside.run(FORGET_TOOLS, [environment, owner, REMOVED_MAX])
          await inside.run(FORGET_PROVIDERS, [environment, owner, slug])
          // Whoever only removes may do so above the limits too.
          if (changes.added.length + changes.changed.length > 0) check(await holdingsOf(inside, environment, owner))
        }
        return { changes, wrote }
      }),

    async countImport({ environment, ownerId }, limit, now) {
      const values = [environment, ownerId ?? '', now, new Date(now.getTime() - WINDOW_MS), limit]
      const [counted] = await statements.run(COUNT_IMPORT, values)
      if (counted !== undefined) return null
      const [row] = await statements.run<{ at: Date }>(IMPORT_WINDOW, [environment, ownerId ?? ''])
      return new Date((row?.at ?? now).getTime() + WINDOW_MS)
    },

    drop: (environment, ownerId) =>
      statements.together(async (inside) => {
        await inside.run(LOCK, [environment])
        const tools = await inside.run(DROP_TOOLS, [environment, ownerId])
        for (const statement of [DROP_PROVIDERS, DROP_COLLECTIONS]) await inside.run(statement, [environment, ownerId])
        await nextChange(inside, environment)
        return tools.length
      }),

    seal: (environment, ownerId, slug, token, now) =>
      statements.together(async (inside) => {
        await inside.run(LOCK, [environment])
        const sealed = await inside.run(SEAL, [environment, ownerId ?? '', slug, token, now])
        if (sealed.length > 0) await nextChange(inside, environment)
        return sealed.length > 0
      }),

    saveCollection: (collection, now) =>
      statements.together(async (inside) => {
        const { environment, ownerId, slug, name, description, patterns } = collection
        await inside.run(LOCK, [environment])
        await inside.run(SAVE_COLLECTION, [environment, ownerId ?? '', slug, name, description, patterns, now])
        await nextChange(inside, environment)
      }),

    dropCollection: (environment, ownerId, slug) =>
      statements.together(async (inside) => {
        await inside.run(LOCK, [environment])
        const dropped = await inside.run(DROP_COLLECTION, [environment, ownerId ?? '', slug])
        if (dropped.length > 0) await nextChange(inside, environment)
        return dropped.length > 0
      }),
  }
}

async function stampOf(
  inside: Statements,
  scope: readonly unknown[],
): Promise<{ change: bigint; stamp: string; isEmpty: boolean }> {
  const [row] = await inside.run<{ change: bigint; stamp: string; empty: boolean }>(STAMP, scope)
  return { change: row?.change ?? 0n, stamp: row?.stamp ?? '', isEmpty: row?.empty ?? true }
}

async function holdingsOf(inside: Statements, environment: Environment, owner: string): Promise<Holdings> {
  const [row] = await inside.run<Record<keyof Holdings, bigint>>(HOLDINGS, [environment, owner])
  return { providers: Number(row?.providers ?? 0n), tools: Number(row?.tools ?? 0n), bytes: Number(row?.bytes ?? 0n) }
}

async function nextChange(inside: Statements, environment: Environment): Promise<bigint> {
  const [row] = await inside.run<{ change: bigint }>(NEXT_CHANGE, [environment])
  if (row === undefined) throw new Error('the catalogue has lost its row')
  return row.change
}

async function writeTools(
  inside: Statements,
  { environment, ownerId, slug: provider }: { environment: Environment; ownerId: UserId | null; slug: string },
  { added, changed, removed }: Changes,
  change: bigint,
  now: Date,
): Promise<void> {
  const common = [environment, ownerId ?? '', provider, change, now]
  for (const rows of chunks(added)) await inside.run(ADD, [...common, fromTools(rows)])
  for (const rows of chunks(changed)) await inside.run(CHANGE, [change, now, fromTools(rows)])
  if (removed.length === 0) return
  const ids: ToolId[] = removed.map(({ id }) => id)
  await inside.run(REMOVE, [change, now, ids, removed.map(({ successor }) => successor)])
}

/** A few megabytes of text a statement. */
function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += CHUNK) yield all.slice(from, from + CHUNK)
}

const CHUNK = 200

function fromTools(tools: readonly NewTool[]): string {
  return JSON.stringify(
    tools.map(({ id, slug, name, description, category, price, deprecated, input, output, upstream, contentHash }) => ({
      id,
      slug,
      name,
      description,
      category,
      deprecated,
      input,
      output,
      upstream,
      price: String(price),
      content_hash: contentHash,
      terms: Object.keys(input['properties'] ?? {}).join(' '),
      address: addressOf(upstream),
    })),
  )
}

function fromProvider(provider: StoredProvider): unknown[] {
  const { environment, ownerId, slug, name, description, kind, simulated, source, sourceHash } = provider
  return [
    ...[environment, ownerId ?? '', slug, name, description, kind, simulated],
    ...[source === null ? null : JSON.stringify(source), JSON.stringify(toPricing(provider.pricing)), sourceHash],
  ]
}

const LAST_CHANGE = 'SELECT change FROM tool_catalogue WHERE environment = $1'
const LOCK = 'SELECT 1 FROM tool_catalogue WHERE environment = $1 FOR UPDATE'
const NEXT_CHANGE = 'UPDATE tool_catalogue SET change = change + 1 WHERE environment = $1 RETURNING change'

/** A page of entries is what a start has in memory besides those that it keeps. */
const PAGE_SIZE = 500
const WINDOW_MS = 3_600_000
/** Tools of an account that say they are gone; the oldest are forgotten. */
const REMOVED_MAX = 1_000

const PAGE = `
SELECT ${ENTRY}, change FROM tool WHERE environment = $1 AND owner_id = $2 AND (change, id) > ($3, $4) ORDER BY change, id
LIMIT $5`

const STAMP = `
SELECT c.change, t.tools + p.providers + l.collections = 0 AS empty,
  concat_ws(' ', t.change, t.tools, p.at, p.providers, l.at, l.collections) AS stamp
FROM tool_catalogue c,
  (SELECT max(change) AS change, count(*) AS tools FROM tool WHERE environment = $1 AND owner_id = $2) t,
  (SELECT max(updated_at) AS at, count(*) AS providers FROM tool_provider WHERE environment = $1 AND owner_id = $2) p,
  (SELECT max(updated_at) AS at, count(*) AS collections FROM tool_collection WHERE environment = $1 AND owner_id = $2) l
WHERE c.environment = $1`

const HOLDINGS = `
SELECT count(DISTINCT provider) AS providers, count(*) AS tools,
  coalesce(sum(octet_length(input::text) + coalesce(octet_length(output::text), 0) + octet_length(upstream::text)
    + octet_length(description) + octet_length(terms)), 0)::bigint AS bytes
FROM tool WHERE environment = $1 AND owner_id = $2 AND status = 'live'`

const FORGET_TOOLS = `
DELETE FROM tool WHERE id IN (
  SELECT id FROM tool WHERE environment = $1 AND owner_id = $2 AND status = 'removed'
  ORDER BY updated_at DESC, id OFFSET $3)`

const FORGET_PROVIDERS = `
DELETE FROM tool_provider p WHERE environment = $1 AND owner_id = $2 AND slug <> $3
  AND NOT EXISTS (SELECT FROM tool t WHERE t.environment = $1 AND t.owner_id = $2 AND t.provider = p.slug)`

const COUNT_IMPORT = `
INSERT INTO tool_import AS i (environment, owner_id, window_at, count) VALUES ($1, $2, $3, 1)
ON CONFLICT (environment, owner_id) DO UPDATE
SET window_at = CASE WHEN i.window_at <= $4 THEN $3 ELSE i.window_at END,
  count = CASE WHEN i.window_at <= $4 THEN 1 ELSE i.count + 1 END
WHERE i.window_at <= $4 OR i.count < $5
RETURNING 1`

const IMPORT_WINDOW = 'SELECT window_at AS at FROM tool_import WHERE environment = $1 AND owner_id = $2'

const DROP_TOOLS = 'DELETE FROM tool WHERE environment = $1 AND owner_id = $2 RETURNING 1'
const DROP_PROVIDERS = 'DELETE FROM tool_provider WHERE environment = $1 AND owner_id = $2'
const DROP_COLLECTIONS = 'DELETE FROM tool_collection WHERE environment = $1 AND owner_id = $2'

const PROVIDERS = `SELECT ${PROVIDER} FROM tool_provider WHERE environment = $1 AND owner_id = $2 ORDER BY slug`
const FIND_PROVIDER = `SELECT ${PROVIDER} FROM tool_provider WHERE environment = $1 AND owner_id = $2 AND slug = $3`
const FIND = `SELECT ${TOOL} FROM tool WHERE id = ANY($1)`

const KNOWN = `
SELECT id, slug, status, successor, content_hash AS "contentHash", address FROM tool
WHERE environment = $1 AND owner_id = $2 AND provider = $3`

const SAVE_PROVIDER = `
INSERT INTO tool_provider AS p (environment, owner_id, slug, name, description, kind, simulated, source, pricing,
  source_hash, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
ON CONFLICT (environment, owner_id, slug) DO UPDATE SET name = excluded.name, description = excluded.description,
  kind = excluded.kind, simulated = excluded.simulated, source = excluded.source, pricing = excluded.pricing,
  source_hash = excluded.source_hash, updated_at = excluded.updated_at
WHERE (p.name, p.description, p.kind, p.simulated, p.source, p.pricing, p.source_hash) IS DISTINCT FROM
  (excluded.name, excluded.description, excluded.kind, excluded.simulated, excluded.source, excluded.pricing,
    excluded.source_hash)
RETURNING 1`

const SEAL = `
UPDATE tool_provider SET credentials = $4, updated_at = $5 WHERE environment = $1 AND owner_id = $2 AND slug = $3
RETURNING 1`

const COLUMNS = `id text, slug text, name text, description text, category text, price bigint, deprecated boolean,
  terms text, input json, output json, upstream json, address text, content_hash text`

const ADD = `
INSERT INTO tool (id, environment, owner_id, slug, provider, name, description, category, price, deprecated, terms,
  input, output, upstream, address, content_hash, change, created_at, updated_at)
SELECT id, $1::environment, $2, slug, $3, name, description, category, price, deprecated, terms, input,
  CASE WHEN json_typeof(output) = 'null' THEN NULL ELSE output END, upstream, address, content_hash, $4, $5, $5
FROM json_to_recordset($6) AS given (${COLUMNS})`

const CHANGE = `
UPDATE tool SET name = g.name, description = g.description, category = g.category, price = g.price,
  deprecated = g.deprecated, terms = g.terms, input = g.input,
  output = CASE WHEN json_typeof(g.output) = 'null' THEN NULL ELSE g.output END, upstream = g.upstream,
  address = g.address, content_hash = g.content_hash, status = 'live', successor = NULL, version = tool.version + 1,
  change = $1, updated_at = $2
FROM json_to_recordset($3) AS g (${COLUMNS}) WHERE tool.id = g.id`

const REMOVE = `
UPDATE tool SET status = 'removed', successor = g.successor, version = version + 1, change = $1, updated_at = $2
FROM unnest($3::text[], $4::text[]) AS g (id, successor) WHERE tool.id = g.id`

const COLLECTIONS = `
SELECT environment, owner_id AS "ownerId", slug, name, description, patterns FROM tool_collection
WHERE environment = $1 AND owner_id = $2 ORDER BY slug`

const SAVE_COLLECTION = `
INSERT INTO tool_collection (environment, owner_id, slug, name, description, patterns, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (environment, owner_id, slug) DO UPDATE SET name = excluded.name, description = excluded.description,
  patterns = excluded.patterns, updated_at = excluded.updated_at`

const DROP_COLLECTION = `
DELETE FROM tool_collection WHERE environment = $1 AND owner_id = $2 AND slug = $3 RETURNING 1`
