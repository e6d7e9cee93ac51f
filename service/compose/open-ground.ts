import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { openDatabase } from '../database/client.ts'
import { Metrics } from '../api/metrics.ts'
import { openRedis } from '../api/redis.ts'
import { systemClock, type Clock } from '../kit/clock.ts'
import { createLedger } from '../ledger/service.ts'
import { createLedgerStore } from '../ledger/store.ts'
import { outboundClient } from '../outbound/client.ts'
import { createLease } from '../queue/lease.ts'
import { createOutbox } from '../queue/outbox.ts'
import { loadOrMakeKey } from '../vault/keyfile.ts'
import { parseKeyring } from '../vault/keyring.ts'
import { vaultOf } from '../vault/vault.ts'
import type { Ground } from './ground.ts'
import { openTracing } from './tracing.ts'

/** `announced` is told of every row for the queue. */
export async function openGround(config: Config, { url, log, clock = systemClock }: From, announced: () => void) {
  const tracer = await openTracing(config)
  const database = openDatabase({ url, poolMax: config.DATABASE_POOL, log, tracer })
  const ground = {
    config,
    log,
    clock,
    database,
    redis: config.REDIS_URL === undefined ? null : openRedis(config.REDIS_URL, log),
    metrics: new Metrics(config.METRICS_KEEP_MS),
    ledger: createLedger(createLedgerStore(database.statements, clock), clock),
    tracer,
    outbound: outboundClient({
      policy: { allowPrivate: config.ALLOW_PRIVATE_CALLBACKS, allowHosts: config.ALLOW_HOSTS },
      tracing: tracer === null ? null : { tracer, passed: false },
    }),
    vault: vaultOf(parseKeyring(config.VAULT_KEY ?? (await loadOrMakeKey(config.DATA_DIR)), config.VAULT_OLD_KEYS)),
    outbox: createOutbox(clock, announced, tracer),
    lease: (name: string) => createLease(database.statements, name, randomUUID()),
  }
  return ground satisfies Ground
}

interface From {
  url: string
  log: Logger
  clock?: Clock
}
