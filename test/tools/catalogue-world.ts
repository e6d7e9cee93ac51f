import { randomBytes } from 'node:crypto'
import { catalogueOn } from '../../service/tools/catalogue-part.ts'
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
  /** Another process on the same database. */
  another(): Catalogue
  close(): Promise<void>
}

/** A catalogue on a database of its own, without the rest of the service. */
export async function catalogueWorld({
  documents,
  quotas = ROOMY,
}: { documents?: Documents; quotas?: ToolQuotas } = {}): Promise<CatalogueWorld> {
  const database = await testDatabase()
  const clock = new TestClock()
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  const servers = createToolServers({ open: (request) => outbound.open(request), limits: {}, version: '1' })
  const stats = new Map<ToolId, ToolStats>()
  const vault = vaultOf(parseKeyring(`test:${randomBytes(32).toString('base64')}`, undefined))
  const make = () =>
    catalogueOn(database.statements, {
      ...{ clock, vault, quotas, outbound, servers },
      measured: { of: () => Promise.resolve(stats) },
      ...(documents === undefined ? {} : { documents }),
    })
  return {
    ...{ database, clock, stats },
    catalogue: make(),
    another: make,
    async close() {
      await servers.close()
      await outbound.close()
      await database.close()
    },
  }
}

const ROOMY: ToolQuotas = { providers: 1_000, tools: 100_000, bytes: 1_000_000_000, importsPerHour: 1_000 }

/** The import request that tests use by default. */
export function wanted(slug: string, other: Partial<ImportRequest> = {}): ImportRequest {
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
