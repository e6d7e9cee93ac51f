import { createHash } from 'node:crypto'
import { invalid } from '../../../kit/errors.ts'
import { newId } from '../../../kit/ids.ts'
import { ZERO, type Usdc } from '../../../kit/money.ts'
import { quotaExceeded } from '../../../kit/quota.ts'
import { FairTurns } from '../../../kit/fair-line.ts'
import type { Environment } from '../../../kit/owner.ts'
import { providerUnknown } from '../../../connections/errors.ts'
import { NO_CREDENTIALS } from '../../../connections/service/credentials.ts'
import { documentRefused, importsBusy, slugsCollide } from '../../errors/catalogue.ts'
import type { ImportReport, Reading } from '../../model/draft.ts'
import type { Credentials, ProviderSecurity } from '../../../connections/model.ts'
import type { PriceRule, Source } from '../../model/provider.ts'
import type { AuthScheme, UserId } from '../../model/tool.ts'
import type { Fetching, ReadBounds, ReadOptions } from '../../ports/sources.ts'
import type { CatalogueStore, StoredProvider } from '../../ports/keeping.ts'
import { changesOf, repriced } from '../../rules/change.ts'
import { withDescription } from '../../rules/description.ts'
import { offeredOf, type Offered } from '../../rules/collection.ts'
import { keepsKey } from '../../rules/needs.ts'
import { checkHoldings, readingLimit } from '../../rules/quota.ts'
import { assetSlugOf, assetSlugsOf, providerSlugFault, slugsOf } from '../../rules/slug.ts'
import type { CatalogueDeps, Directory } from './directory.ts'
import type { CredentialKeeping } from './credentials.ts'

/** Imports tools from a document or a server. Reading takes seconds and holds no lock; writing is one transaction. */
export function createImporting(deps: ImportingDeps) {
  const { store, clock, documents, fetching, directory, quotas } = deps
  const turns = { sandbox: new FairTurns(IMPORT_TURNS), production: new FairTurns(IMPORT_TURNS) }

  /**
   * An account's import is counted before anything is fetched, and waits for its turn: reading a document takes memory,
   * and a server may be slow on purpose. The platform's own imports have a separate queue.
   */
  async function admitted<T>({ environment, ownerId, slug }: ImportRequest, work: () => Promise<T>): Promise<T> {
    checkSlug(slug)
    if (ownerId === null) return await turns[environment].run('', work, importsBusy)
    const limit = quotas.importsPerHour
    const resetsAt = await store.countImport({ environment, ownerId }, limit, clock.now())
    if (resetsAt !== null) throw quotaExceeded('imports_per_hour', limit, resetsAt)
    return await turns[environment].run(ownerId, work, importsBusy)
  }

  /** Makes a provider's tools match this reading: tools are added, changed, or marked as removed. */
  async function write(provider: StoredProvider, reading: Reading): Promise<ImportReport> {
    const { environment, slug, kind } = provider
    const { skipped } = reading
    const operations = reading.operations.map(withDescription)
    const drafts = kind === 'rda' ? assetSlugsOf(operations) : slugsOf(slug, operations)
    const nextId = () => newId('tool', clock.now())
    const { changes, wrote, keyRemoved } = await store
      .change(
        provider,
        (known) => changesOf(known, drafts, provider.pricing, nextId),
        clock.now(),
        (holdings) => checkHoldings(holdings, quotas),
      )
      .catch((error: unknown) => {
        throw (error as { code?: string }).code === UNIQUE_VIOLATION ? slugsCollide(slug) : error
      })
    if (wrote) await directory.refresh(environment)
    return {
      provider: slug,
      environment,
      unchanged: changes.unchanged,
      skipped,
      added: sortedSlugs(changes.added),
      changed: sortedSlugs(changes.changed),
      removed: sortedSlugs(changes.removed),
      keyRemoved,
    }
  }

  async function readDocument(request: ImportRequest, text: string): Promise<ImportReport> {
    const { source = null, server = null, auth = null, trusted = false, simulated = false } = request
    const options = { base: baseOf(source), server, auth, trusted }
    const before = request.yields === true ? await store.provider(request, request.slug) : null
    if (before !== null && isOperators(before, source)) return await unchanged(directory, before)
    const pricing = before === null ? await pricingOf(store, request) : repriced(before.pricing, {})
    const chosen = request.offered === undefined ? [] : [request.offered]
    const sourceHash = hashOf([documents.edition, options, priced(pricing), simulated, text, ...chosen])
    const provider = toProvider({ ...request, pricing }, 'openapi', sourceHash)
    if (await isRead(store, provider)) return await unchanged(directory, provider)
    const reading = await readOffered(deps, request, { text, options })
    if (!simulated && !trusted) await checkServers(fetching, reading)
    return await write(named(provider, reading), reading)
  }

  return {
    /** Imports the tools of a document. An unchanged document changes nothing, and the report says so. */
    async importDocument(request: ImportRequest, text: string): Promise<ImportReport> {
      return await admitted(request, () => readDocument(request, text))
    },

    /** The same for a document at an address. */
    async importAddress(request: ImportRequest): Promise<ImportReport> {
      const from = request.source?.from ?? ''
      return await admitted(request, async () => await readDocument(request, await fetching.fetch(from)))
    },

    /** Imports the tools that an MCP server lists now. */
    async importServer(request: ImportRequest, server: string): Promise<ImportReport> {
      return await admitted(request, () => readServer(request, server))
    },

    /** Imports the marketplace's published tools, as many as the catalogue mirrors. */
    async importAssets(
      environment: Environment,
      reading: Reading,
      prices: ReadonlyMap<string, Usdc>,
    ): Promise<ImportReport> {
      const bySlug = Object.fromEntries([...prices].map(([slug, price]) => [assetSlugOf(slug), price]))
      const request = { ...MARKETPLACE, environment, pricing: { otherwise: ZERO, bySlug } }
      const sourceHash = hashOf([priced(request.pricing), reading.operations])
      const provider = toProvider(request, 'rda', sourceHash)
      return await writeIfNew(provider, reading)
    },

    /** Removes all of its tools, and its key. A later import restores those that it contains. */
    async removeProvider(environment: Environment, ownerId: UserId | null, slug: string): Promise<ImportReport> {
      const scope = { environment, ownerId }
      const before = await store.provider(scope, slug)
      if (before === null) throw providerUnknown(slug)
      await store.seal(scope, slug, null, clock.now())
      const report = await write({ ...before, sourceHash: null }, { ...NOTHING, name: before.name })
      return { ...report, keyRemoved: before.credentials !== null }
    },

    /** Deletes everything that an account has imported. Returns the number of tools. */
    async dropTools(environment: Environment, ownerId: UserId): Promise<number> {
      return await store.drop({ environment, ownerId })
    },
  }

  async function readServer(request: ImportRequest, server: string): Promise<ImportReport> {
    const { provider, reading } = await listed(deps, request, server)
    return await writeIfNew(provider, reading)
  }

  async function writeIfNew(provider: StoredProvider, reading: Reading): Promise<ImportReport> {
    return (await isRead(store, provider)) ? await unchanged(directory, provider) : await write(provider, reading)
  }
}

/** The operations of a document that become tools. An account's document is bounded by its quotas. */
async function readOffered(
  { documents, quotas }: Pick<CatalogueDeps, 'documents' | 'quotas'>,
  { ownerId, offered: wanted = null }: Pick<ImportRequest, 'ownerId'> & { offered?: Offered | null },
  { text, options }: { text: string; options: ReadOptions },
): Promise<Reading> {
  const reading = await documents.read(text, { ...options, ...boundsOf(ownerId, quotas) })
  if (reading.operations.length === 0) throw documentRefused(nothingIn(reading))
  const { offered } = offeredOf(reading.operations, wanted)
  if (offered.length === 0) throw documentRefused('none of its operations is one of those that are offered.')
  return { ...reading, operations: offered }
}

/** What an MCP server lists, and the provider that has it. */
async function listed(
  deps: ImportingDeps,
  request: ImportRequest,
  server: string,
): Promise<{ provider: StoredProvider; reading: Reading }> {
  const { store, servers, fetching, quotas } = deps
  await fetching.checkAddress(server)
  const { ownerId, signal } = request
  const { headers } = request.credentials ?? (await storedKey(deps, request, server))
  const about = { server, caller: ownerId ?? 'operator', headers, ...(signal === undefined ? {} : { signal }) }
  const reading = await servers.read({ ...about, ...boundsOf(ownerId, quotas) })
  const pricing = await pricingOf(store, request)
  const sourceHash = hashOf([server, priced(pricing), reading.operations])
  return {
    provider: named(toProvider({ ...request, pricing, source: { from: server } }, 'mcp', sourceHash), reading),
    reading,
  }
}

function boundsOf(ownerId: UserId | null, quotas: CatalogueDeps['quotas']): ReadBounds {
  return ownerId === null ? {} : { check: readingLimit(quotas), charactersMax: CHARACTERS_MAX }
}

async function pricingOf(store: CatalogueStore, request: ImportRequest): Promise<PriceRule> {
  const before = await store.provider(request, request.slug)
  return repriced(before?.pricing ?? null, request.pricing)
}

/** What the operator removed, or imported from elsewhere under this name. */
function isOperators(before: StoredProvider, source: Source | null): boolean {
  return before.sourceHash === null || before.source?.from !== source?.from
}

/** The key of the server that the name stands for, where this is that one. */
async function storedKey(
  { store, credentials }: Pick<ImportingDeps, 'store' | 'credentials'>,
  { environment, ownerId, slug }: ImportRequest,
  server: string,
): Promise<Headed> {
  const before = await store.provider({ environment, ownerId }, slug)
  const after = { ownerId, kind: 'mcp', source: { from: server }, security: NO_SECURITY } as const
  if (!keepsKey(before, after)) return NO_CREDENTIALS
  const [secret] = await credentials.of({ environment, ownerId, provider: slug }, { kind: 'bearer' })
  return secret
}

/** The same source, read in the same way, gives the same tools, so it need not be read again. */
async function isRead(store: CatalogueStore, provider: StoredProvider): Promise<boolean> {
  const before = await store.provider(provider, provider.slug)
  return before !== null && before.sourceHash === provider.sourceHash
}

function sortedSlugs(tools: readonly { slug: string }[]): string[] {
  return tools.map(({ slug }) => slug).sort()
}

async function unchanged(directory: Directory, provider: StoredProvider): Promise<ImportReport> {
  const { environment, ownerId, slug } = provider
  const view = await directory.viewOf(environment, ownerId)
  const all = (ownerId === null ? view.platform : view.own)?.all() ?? []
  const there = all.filter((entry) => entry.provider === slug).length
  const nothing = { added: [], changed: [], removed: [], skipped: [], keyRemoved: false }
  return { provider: slug, environment, unchanged: there, ...nothing }
}

/** Each call checks its server again. This check tells the author of the import early. */
async function checkServers(fetching: Fetching, { operations }: Reading): Promise<void> {
  const all = operations.map(({ upstream }) => (upstream.kind === 'http' ? new URL(upstream.server).origin : ''))
  const servers = new Set(all)
  if (servers.size > SERVERS_MAX) throw documentRefused(`it names more than ${String(SERVERS_MAX)} servers.`)
  for (const server of servers) await fetching.checkAddress(server)
}

export interface ImportRequest {
  readonly environment: Environment
  readonly ownerId: UserId | null
  readonly slug: string
  /** When absent, the document's own name. */
  readonly name?: string | null
  readonly description?: string | null
  readonly simulated?: boolean
  readonly source?: Source | null
  /** When it has no price for all tools, their present prices stay. */
  readonly pricing: Partial<PriceRule>
  /** Replaces the document's server. */
  readonly server?: string | null
  readonly auth?: AuthScheme | null
  /** The document comes with the service or from the operator. */
  readonly trusted?: boolean
  /** Which of the document's operations become tools. All where it is absent. */
  readonly offered?: Offered
  /** What the operator removed, replaced or priced stays as it is. */
  readonly yields?: boolean
  /** For reading an MCP server whose credentials are not stored yet. */
  readonly credentials?: Headed
  /** Ends the reading of an MCP server when the request is closed. */
  readonly signal?: AbortSignal
}

type Headed = Pick<Credentials, 'headers'>

type ImportingDeps = CatalogueDeps & { directory: Directory; credentials: CredentialKeeping }

/** How many imports a process runs at once. One further import of the same account may wait. */
const IMPORT_TURNS = { atOnce: 2, perAccount: 1, waitingPerAccount: 1, waiting: 100 }

/** Of a document, or of a server's list of tools, that an account imports. */
const CHARACTERS_MAX = 10_000_000
const SERVERS_MAX = 50

const UNIQUE_VIOLATION = '23505'

const MARKETPLACE = {
  ownerId: null,
  slug: 'rda',
  name: 'Marketplace',
  description: 'Tools that creators published on this server.',
}

const NOTHING: Reading = { name: '', description: '', version: null, operations: [], skipped: [] }

function checkSlug(slug: string): void {
  const fault = providerSlugFault(slug)
  if (fault !== null) throw invalid({ provider: fault })
}

type PricedRequest = ImportRequest & { pricing: PriceRule }

function toProvider(request: PricedRequest, kind: StoredProvider['kind'], sourceHash: string): StoredProvider {
  const { environment, ownerId, slug, pricing, simulated = false, source = null } = request
  if (simulated && environment !== 'sandbox') throw invalid({ simulated: 'is available in the sandbox only' })
  const words = { name: request.name ?? '', description: request.description ?? '' }
  const access = { credentials: null, security: NO_SECURITY, isPublic: false, oauth: null, oauthSecret: null }
  return { ...words, environment, ownerId, slug, kind, simulated, source, pricing, sourceHash, ...access }
}

function named(provider: StoredProvider, reading: Reading): StoredProvider {
  const { name, description, slug } = provider
  const security = securityIn(reading)
  return { ...provider, name: name || reading.name || slug, description: description || reading.description, security }
}

/** The hosts that its tools are on are the only ones that get a connection's secret. */
function securityIn({ operations, schemes = [] }: Reading): ProviderSecurity {
  const hosts = operations.flatMap(({ upstream }) =>
    upstream.kind === 'http' && URL.canParse(upstream.server) ? new URL(upstream.server).origin : [],
  )
  return { hosts: [...new Set(hosts)].slice(0, SERVERS_MAX), schemes }
}

const NO_SECURITY: ProviderSecurity = { hosts: [], schemes: [] }

export function baseOf(source: Source | null): string | null {
  return source !== null && /^https?:\/\//.test(source.from) ? source.from : null
}

function nothingIn({ skipped }: Reading): string {
  const [first] = skipped
  return first === undefined ? 'it has no operations.' : `none of its operations can be a tool: ${first.why}.`
}

/** JSON cannot hold money, which is a bigint. */
function priced(rule: PriceRule): string {
  return JSON.stringify(rule, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
