import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Environment } from '../../ledger/model.ts'
import type { Changes, NewTool } from '../model/draft.ts'
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

    since: (environment, change) =>
      statements.together(async (inside) => {
        // One moment for all of it: a change that commits in between is the next reader's.
        await inside.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', [])
        const [last] = await inside.run<{ change: bigint }>(LAST_CHANGE, [environment], 'tool_last_change')
        const entries = await inside.run<EntryRow>(ENTRIES_SINCE, [environment, change])
        const providers = await inside.run<ProviderRow>(PROVIDERS, [environment])
        const collections = await inside.run<CollectionRow>(COLLECTIONS, [environment])
        return {
          change: last?.change ?? 0n,
          entries: entries.map(toEntry),
          providers: providers.map(toProvider),
          collections: collections.map(toCollection),
        }
      }),

    async find(ids) {
      if (ids.length === 0) return []
      const rows = await statements.run<ToolRow>(FIND, [ids], 'tool_find')
      return rows.map(toTool)
    },

    async provider(environment, ownerId, slug) {
      const [row] = await statements.run<ProviderRow>(FIND_PROVIDER, [environment, ownerId ?? '', slug])
      return row === undefined ? null : toProvider(row)
    },

    change: (provider, decide, now) =>
      statements.together(async (inside) => {
        const { environment, slug } = provider
        const owner = provider.ownerId ?? ''
        await inside.run(LOCK, [environment])
        const known = await inside.run<KnownRow>(KNOWN, [environment, owner, slug])
        const changes = decide(known.map(toKnown))
        const [saved] = await inside.run(SAVE_PROVIDER, [...fromProvider(provider), now])
        const wrote = saved !== undefined || !isNothing(changes)
        if (wrote) await writeTools(inside, provider, changes, await nextChange(inside, environment), now)
        return { changes, wrote }
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
      ...{ id, slug, name, description, category, deprecated, input, output, upstream },
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

const ENTRIES_SINCE = `SELECT ${ENTRY} FROM tool WHERE environment = $1 AND change > $2 ORDER BY slug COLLATE "C", owner_id`
const PROVIDERS = `SELECT ${PROVIDER} FROM tool_provider WHERE environment = $1 ORDER BY slug`
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
WHERE environment = $1 ORDER BY slug`

const SAVE_COLLECTION = `
INSERT INTO tool_collection (environment, owner_id, slug, name, description, patterns, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (environment, owner_id, slug) DO UPDATE SET name = excluded.name, description = excluded.description,
  patterns = excluded.patterns, updated_at = excluded.updated_at`

const DROP_COLLECTION = `
DELETE FROM tool_collection WHERE environment = $1 AND owner_id = $2 AND slug = $3 RETURNING 1`
