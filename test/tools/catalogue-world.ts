import { randomBytes } from 'node:crypto'
import { catalogueOn } from '../../service/wiring/tools-catalogue.ts'
import { readConfig } from '../../service/config.ts'
import { openUpstreams } from '../../service/wiring/tools-upstreams.ts'
import type { Upstreams } from '../../service/tools/ports/calls.ts'
import { usdc } from '../../service/kit/money.ts'
import { createToolServers } from '../../service/mcp-client/servers.ts'
import { outboundClient } from '../../service/outbound/client.ts'
import type { ToolStats, ToolId } from '../../service/tools/model/tool.ts'
import type { ToolQuotas } from '../../service/tools/rules/quota.ts'
import type { Documents } from '../../service/tools/ports/sources.ts'
import type { Catalogue } from '../../service/tools/service/catalogue/catalogue.ts'
import type { ImportRequest } from '../../service/tools/service/catalogue/importing.ts'
import { parseKeyring } from '../../service/vault/keyring.ts'
import { vaultOf } from '../../service/vault/vault.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

export interface CatalogueWorld {
  database: TestDatabase
  clock: TestClock
  catalogue: Catalogue
  stats: Map<ToolId, ToolStats>
  /** Requests to the tools' servers. */
  http: Upstreams['http']
  /** Another process on the same database. */
  another(): Catalogue
  close(): Promise<void>
}

/** A catalogue on a database of its own, without the rest of the service. */
export async function catalogueWorld({
  documents,
  quotas = ROOMY,
  allowPrivate = true,
}: { documents?: Documents; quotas?: ToolQuotas; allowPrivate?: boolean } = {}): Promise<CatalogueWorld> {
  const database = await testDatabase()
  const clock = new TestClock()
  const outbound = outboundClient({ policy: { allowPrivate, allowHosts: [] } })
  const servers = createToolServers({ open: (request) => outbound.open(request), limits: {}, version: '1' })
  const stats = new Map<ToolId, ToolStats>()
  const vault = vaultOf(parseKeyring(`test:${randomBytes(32).toString('base64')}`, undefined))
  const make = () =>
    catalogueOn(database.statements, {
      ...{ clock, vault, quotas, outbound, servers },
      measured: { of: () => Promise.resolve(stats) },
      ...(documents === undefined ? {} : { documents }),
    })
  const allowHosts = allowPrivate ? ['127.0.0.1'] : []
  const upstreams = openUpstreams({ config: readConfig({}), allowHosts, tracer: null })
  return {
    ...{ database, clock, stats, http: upstreams.http },
    catalogue: make(),
    another: make,
    async close() {
      await servers.close()
      await upstreams.close()
      await outbound.close()
      await database.close()
    },
  }
}

const ROOMY: ToolQuotas = { providers: 1_000, tools: 100_000, bytes: 1_000_000_000, importsPerHour: 1_000 }

/** The import request that tests use by default. */
export function importRequest(slug: string, other: Partial<ImportRequest> = {}): ImportRequest {
  return {
    environment: 'sandbox',
    ownerId: null,
    slug,
    name: null,
    description: null,
    simulated: true,
    source: null,
    pricing: { otherwise: usdc(1_000n) },
    server: null,
    auth: null,
    trusted: false,
    ...other,
  }
}
