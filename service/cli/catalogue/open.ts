import { catalogueOn, toolQuotas } from '../../wiring/tools-catalogue.ts'
import type { Config } from '../../config.ts'
import { migrateFor } from '../../database/migrate.ts'
import { systemClock } from '../../kit/clock.ts'
import { createToolServers } from '../../mcp-client/servers.ts'
import { outboundClient } from '../../outbound/client.ts'
import type { Catalogue } from '../../tools/service/catalogue/catalogue.ts'
import { loadOrMakeKey } from '../../vault/keyring.ts'
import { parseKeyring } from '../../vault/keyring.ts'
import { vaultOf } from '../../vault/vault.ts'
import { openUpstreams } from '../../wiring/tools-upstreams.ts'
import { askAtTerminal, type Trials } from './trial.ts'
import { withDatabase } from '../command/run.ts'

/** With the catalogue of this machine's service, whether that runs or not. */
export async function withCatalogue<T>(
  config: Config,
  work: (catalogue: Catalogue, trials: Trials) => Promise<T>,
): Promise<T> {
  return await withDatabase(config, async ({ statements }, url) => {
    await migrateFor(url, config)
    // The operator may call what the server may.
    const outbound = outboundClient({ policy: { allowPrivate: !config.LIVE, allowHosts: config.ALLOW_HOSTS } })
    const servers = createToolServers({ open: (request) => outbound.open(request), limits: {}, version: '1' })
    const keyring = parseKeyring(config.VAULT_KEY ?? (await loadOrMakeKey(config.DATA_DIR)), config.VAULT_OLD_KEYS)
    const catalogue = catalogueOn(statements, {
      clock: systemClock,
      vault: vaultOf(keyring),
      quotas: toolQuotas(config),
      outbound,
      servers,
      // Measurements are in the service's memory.
      measured: { of: () => Promise.resolve(new Map()) },
    })
    const upstreams = openUpstreams({ config, allowHosts: config.ALLOW_HOSTS, tracer: null })
    try {
      return await work(catalogue, { http: upstreams.http, ask: askAtTerminal })
    } finally {
      await upstreams.close()
      await servers.close()
      await outbound.close()
    }
  })
}
