import type { Environment } from '../../../kit/owner.ts'
import type { StatementPool, Statements } from '../../../kit/transaction.ts'
import type { Changes, Collection, Holdings, KnownTool, NewTool } from '../../model/draft.ts'
import type { Entry, Tool } from '../../model/tool.ts'
import type { CatalogueStore, Scope, StoredProvider } from '../../ports/keeping.ts'
import { addressOf, isNothing } from '../../rules/change.ts'
import { keepsKey } from '../../rules/needs.ts'
import { ENTRY, PROVIDER, TOOL, owned, toPricing, toProvider, type Owned, type ProviderRow } from './rows.ts'

/** The catalogue in PostgreSQL. A change locks the environment's row, so all readers see changes in one order. */
export function createCatalogueStore(statements: StatementPool): CatalogueStore {
  function changing<T>(environment: Environment, work: (inside: Statements) => Promise<T>): Promise<T> {
    return statements.together(async (inside) => {
      await inside.run(LOCK, [environment])
      return await work(inside)
    })
  }

  /** Runs one statement as a change of the catalogue. False when it found nothing to change. */
  function write(environment: Environment, statement: string, values: readonly unknown[]): Promise<boolean> {
    return changing(environment, async (inside) => {
      const written = await inside.run(statement, values)
      if (written.length > 0) await nextChange(inside, environment)
      return written.length > 0
    })
  }

  return {
    async lastChange(environment) {
      const [row] = await statements.run<{ change: bigint }>(LAST_CHANGE, [environment], 'tool_last_change')
      return row?.change ?? 0n
    },

    since: (scope, change, take) =>
      statements.together(async (inside) => {
        // One snapshot for all of it: the next reader sees a change that commits in between.
        await inside.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', [])
        const values = keyOf(scope)
        const stamped = await stampOf(inside, scope)
        // Every id sorts after the empty text.
        let last = { change: change + 1n, id: '' }
        for (;;) {
          const page = [...values, last.change, last.id, PAGE_SIZE]
          const rows = await inside.run<Owned<Entry> & { change: bigint }>(PAGE, page)
          const isWanted = rows.length === 0 || take(rows.map(({ change: _change, ...row }) => owned(row)))
          last = rows.at(-1) ?? last
          if (!isWanted || rows.length < PAGE_SIZE) break
        }
        const providers = await inside.run<ProviderRow>(PROVIDERS, values)
        const collections = await inside.run<Owned<Collection>>(COLLECTIONS, values)
        return { ...stamped, providers: providers.map(toProvider), collections: collections.map(owned) }
      }),

    stamp: (scope) => stampOf(statements, scope),

    async find(ids) {
      if (ids.length === 0) return []
      const rows = await statements.run<Owned<Tool>>(FIND, [ids], 'tool_find')
      return rows.map(owned)
    },

    async provider(scope, slug) {
      const [row] = await statements.run<ProviderRow>(FIND_PROVIDER, [...keyOf(scope), slug])
      return row === undefined ? null : toProvider(row)
    },

    change: (provider, decide, now, check) =>
      changing(provider.environment, async (inside) => {
        const values = [...keyOf(provider), provider.slug]
        const changes = decide(await inside.run<KnownTool>(KNOWN, values))
        const [row] = await inside.run<ProviderRow>(FIND_PROVIDER, values)
        const before = row === undefined ? null : toProvider(row)
        const keeps = keepsKey(before, provider)
        const [saved] = await inside.run(SAVE_PROVIDER, [...fromProvider(provider), now, keeps])
        const wrote = saved !== undefined || !isNothing(changes)
        if (wrote) await writeTools(inside, provider, changes, now)
        if (provider.ownerId !== null && wrote) {
          await inside.run(FORGET_TOOLS, [...keyOf(provider), REMOVED_MAX])
          await inside.run(FORGET_PROVIDERS, values)
          // A change that only removes tools is allowed above the limits too.
          if (changes.added.length + changes.changed.length > 0) check(await holdingsOf(inside, provider))
        }
        const hadKey = before !== null && before.credentials !== null
        return { changes, wrote, keyRemoved: hadKey && !keeps && saved !== undefined }
      }),

    async countImport(scope, limit, now) {
      const values = [...keyOf(scope), now, new Date(now.getTime() - WINDOW_MS), limit]
      const [counted] = await statements.run(COUNT_IMPORT, values)
      if (counted !== undefined) return null
      const [row] = await statements.run<{ at: Date }>(IMPORT_WINDOW, keyOf(scope))
      return new Date((row?.at ?? now).getTime() + WINDOW_MS)
    },

    drop: (scope) =>
      changing(scope.environment, async (inside) => {
        const tools = await inside.run(DROP_TOOLS, keyOf(scope))
        for (const statement of [DROP_PROVIDERS, DROP_COLLECTIONS]) await inside.run(statement, keyOf(scope))
        await nextChange(inside, scope.environment)
        return tools.length
      }),

    seal: (scope, slug, token, now) => write(scope.environment, SEAL, [...keyOf(scope), slug, token, now]),

    setAccess(scope, slug, { isPublic = null, oauth }, now) {
      const client = oauth == null ? null : JSON.stringify(oauth.client)
      const values = [...keyOf(scope), slug, isPublic, oauth !== undefined, client, oauth?.secret ?? null, now]
      return write(scope.environment, SET_ACCESS, values)
    },

    async saveCollection(collection, now) {
      const { slug, name, description, patterns } = collection
      const values = [...keyOf(collection), slug, name, description, patterns, now]
      await write(collection.environment, SAVE_COLLECTION, values)
    },

    dropCollection: (scope, slug) => write(scope.environment, DROP_COLLECTION, [...keyOf(scope), slug]),
  }
}

/** The platform's owner is an empty text: see `Owned`. */
function keyOf({ environment, ownerId }: Scope): unknown[] {
  return [environment, ownerId ?? '']
}

async function stampOf(inside: Statements, scope: Scope): ReturnType<CatalogueStore['stamp']> {
  const [row] = await inside.run<{ change: bigint; stamp: string; empty: boolean }>(STAMP, keyOf(scope))
  return { change: row?.change ?? 0n, stamp: row?.stamp ?? '', isEmpty: row?.empty ?? true }
}

async function holdingsOf(inside: Statements, scope: Scope): Promise<Holdings> {
  const [row] = await inside.run<Record<keyof Holdings, bigint>>(HOLDINGS, keyOf(scope))
  return { providers: Number(row?.providers ?? 0n), tools: Number(row?.tools ?? 0n), bytes: Number(row?.bytes ?? 0n) }
}

async function nextChange(inside: Statements, environment: Environment): Promise<bigint> {
  const [row] = await inside.run<{ change: bigint }>(NEXT_CHANGE, [environment])
  if (row === undefined) throw new Error('the row of the catalogue is missing')
  return row.change
}

async function writeTools(inside: Statements, provider: StoredProvider, changes: Changes, now: Date): Promise<void> {
  const change = await nextChange(inside, provider.environment)
  const common = [...keyOf(provider), provider.slug, change, now]
  for (const rows of chunks(changes.added)) await inside.run(ADD, [...common, fromTools(rows)])
  for (const rows of chunks(changes.changed)) await inside.run(CHANGE, [change, now, fromTools(rows)])
  const { removed } = changes
  if (removed.length === 0) return
  await inside.run(REMOVE, [change, now, removed.map(({ id }) => id), removed.map(({ successor }) => successor)])
}

/** Each statement gets a few megabytes of text at most. */
function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += CHUNK) yield all.slice(from, from + CHUNK)
}

const CHUNK = 200

function fromTools(tools: readonly NewTool[]): string {
  const rows = tools.map(({ price, contentHash, ...tool }) => ({
    ...tool,
    price: String(price),
    content_hash: contentHash,
    terms: Object.keys(tool.input['properties'] ?? {}).join(' '),
    address: addressOf(tool.upstream),
  }))
  return JSON.stringify(rows)
}

function fromProvider(provider: StoredProvider): unknown[] {
  const { slug, name, description, kind, simulated, source, pricing, security, sourceHash } = provider
  const sourceJson = source === null ? null : JSON.stringify(source)
  const pricingJson = JSON.stringify(toPricing(pricing))
  // That of an MCP server follows from its address.
  const securityJson = kind === 'openapi' ? JSON.stringify(security) : null
  const values = [slug, name, description, kind, simulated, sourceJson, pricingJson, sourceHash, securityJson]
  return [...keyOf(provider), ...values]
}

const LAST_CHANGE = 'SELECT change FROM tool_catalogue WHERE environment = $1'
const LOCK = 'SELECT 1 FROM tool_catalogue WHERE environment = $1 FOR UPDATE'
const NEXT_CHANGE = 'UPDATE tool_catalogue SET change = change + 1 WHERE environment = $1 RETURNING change'

/** How many entries a start reads at a time. It holds these in memory in addition to the entries that it keeps. */
const PAGE_SIZE = 500
const WINDOW_MS = 3_600_000
/** How many removed tools of an account are remembered. The oldest are deleted. */
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
  source_hash, security, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
ON CONFLICT (environment, owner_id, slug) DO UPDATE SET name = excluded.name, description = excluded.description,
  kind = excluded.kind, simulated = excluded.simulated, source = excluded.source, pricing = excluded.pricing,
  source_hash = excluded.source_hash, security = excluded.security, updated_at = excluded.updated_at,
  credentials = CASE WHEN $13 THEN p.credentials END
WHERE (p.name, p.description, p.kind, p.simulated, p.source, p.pricing, p.source_hash, p.security) IS DISTINCT FROM
  (excluded.name, excluded.description, excluded.kind, excluded.simulated, excluded.source, excluded.pricing,
    excluded.source_hash, excluded.security)
RETURNING 1`

const SEAL = `
UPDATE tool_provider SET credentials = $4, updated_at = $5 WHERE environment = $1 AND owner_id = $2 AND slug = $3
RETURNING 1`

const SET_ACCESS = `
UPDATE tool_provider SET is_public = coalesce($4, is_public), oauth = CASE WHEN $5 THEN $6::jsonb ELSE oauth END,
  oauth_secret = CASE WHEN $5 THEN $7 ELSE oauth_secret END, updated_at = $8
WHERE environment = $1 AND owner_id = $2 AND slug = $3 RETURNING 1`

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
  patterns = excluded.patterns, updated_at = excluded.updated_at
RETURNING 1`

const DROP_COLLECTION = `
DELETE FROM tool_collection WHERE environment = $1 AND owner_id = $2 AND slug = $3 RETURNING 1`
