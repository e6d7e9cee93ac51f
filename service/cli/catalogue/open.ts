import { catalogueOn, toolQuotas } from '../../tools/catalogue-part.ts'
import type { Config } from '../../config.ts'
import { openDatabase } from '../../database/client.ts'
import { attachOrStart } from '../../database/embedded/database.ts'
import { migrate } from '../../database/migrate.ts'
import { systemClock } from '../../kit/clock.ts'
import { createToolServers } from '../../mcp-client/servers.ts'
import { outboundClient } from '../../outbound/client.ts'
import type { Catalogue } from '../../tools/service/catalogue.ts'
import { loadOrMakeKey } from '../../vault/keyfile.ts'
import { parseKeyring } from '../../vault/keyring.ts'
import { vaultOf } from '../../vault/vault.ts'

/** The catalogue of this machine's service, whether that runs or not. */
export async function openCatalogueHere(config: Config): Promise<{ catalogue: Catalogue; close(): Promise<void> }> {
  const embedded = config.DATABASE_URL === undefined ? await attachOrStart({ dataDir: config.DATA_DIR }) : null
  const url = config.DATABASE_URL ?? embedded?.url ?? ''
  await migrate(url)
  const database = openDatabase({ url, poolMax: 2 })
  // Whoever sits at this terminal runs the server: what it may call is what the server may.
  const outbound = outboundClient({ policy: { allowPrivate: !config.LIVE, allowHosts: config.ALLOW_HOSTS } })
  const servers = createToolServers({ open: (request) => outbound.open(request), limits: {}, version: '1' })
  const keyring = parseKeyring(config.VAULT_KEY ?? (await loadOrMakeKey(config.DATA_DIR)), config.VAULT_OLD_KEYS)
  const catalogue = catalogueOn(database.statements, {
    clock: systemClock,
    vault: vaultOf(keyring),
    quotas: toolQuotas(config),
    outbound,
    servers,
    // What was measured is the service's to say.
    measured: { of: () => Promise.resolve(new Map()) },
  })
  return {
    catalogue,
    async close() {
      await servers.close()
      await outbound.close()
      await database.close()
      await embedded?.stop()
    },
  }
}
