import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Config, Role } from '../config.ts'
import { type Database, openDatabase } from '../database/client.ts'
import { createRateLimit, type RateLimit } from '../api/limits.ts'
import type { Mounted } from '../api/direct.ts'
import type { DescribedSurface } from '../api/openapi.ts'
import type { AnyRoute } from '../api/route.ts'
import type { Upgrade } from '../api/upgrades.ts'
import type { Tracer } from '../kit/tracer.ts'
import { type Ledger, createLedger } from '../ledger/service.ts'
import { type Outbound, outboundClient } from '../outbound/client.ts'
import { type Lease, createLease } from '../queue/sweepers.ts'
import type { Outbox, Sweeper, Topic } from '../queue/model.ts'
import { type Vault, vaultOf } from '../vault/vault.ts'
import { randomUUID } from 'node:crypto'
import { Metrics } from '../api/metrics.ts'
import { openRedis } from '../api/redis.ts'
import { systemClock, type Clock } from '../kit/clock.ts'
import { NO_FAILPOINTS, type Failpoints } from '../kit/failpoints.ts'
import { createLedgerStore } from '../ledger/store/ledger.ts'
import { createOutbox } from '../queue/outbox.ts'
import { loadOrMakeKey, parseKeyring } from '../vault/keyring.ts'
import { Facts } from './facts.ts'
import { authSecretOf } from './keys.ts'
import { hostname } from 'node:os'
import type { Tracing } from '../tracing/opentelemetry.ts'

/** The shared dependencies of all parts of the service; created once. */
export interface Platform {
  config: Config
  log: Logger
  clock: Clock
  failpoints: Failpoints
  database: Database
  /** Null without Redis: then each process has its own counts and messages instead of shared ones. */
  redis: Redis | null
  metrics: Metrics
  /** Null if no collector for traces is configured. */
  tracer: Tracer | null
  ledger: Ledger
  /** For requests to addresses that users entered. */
  outbound: Outbound
  vault: Vault
  /** Signs sessions, tokens and links; the same in every process. */
  secret: string
  outbox: Outbox
  facts: Facts
  /** How often an address without an account may ask to buy: at all doors together. */
  guestLimit: RateLimit
  /** A lease has one holder at a time across all processes. */
  lease(name: string): Lease
}

/** What one capability adds to the service. Nothing of it runs before `start`. */
export interface Part {
  routes?: readonly { surface: SurfaceName; routes: readonly AnyRoute[] }[]
  /** Rate limits that its routes refer to by name. */
  limits?: Readonly<Record<string, RateLimit>>
  /** Handlers that declare no routes, by path, for processes that serve the role. */
  mounted?: readonly (Mounted & { role: Role })[]
  /** Its entries in the API reference, under its address. */
  described?: readonly (DescribedSurface & { role: Role })[]
  /** WebSockets, by path. */
  upgrades?: readonly (Upgrade & { role: Role })[]
  topics?: readonly Topic[]
  sweepers?: readonly Sweeper[]
  /** Its line in /readyz. */
  health?: Readonly<Record<string, () => unknown>>
  /**
   * What must be loaded into memory before requests are accepted, by name, and whether it is loaded. The first call
   * starts the loading.
   */
  ready?: Readonly<Record<string, () => Promise<boolean>>>
  start?(): Promise<void> | void
  stop?(): Promise<void>
}

/** The addresses under which declared routes are served; each is a role of its own. */
export type SurfaceName = 'api' | 'facilitator' | 'pay' | 'receipts' | 'tools' | 'gate'

/** `announced` is called for every row that is added for the queue. */
export async function createPlatform(config: Config, from: From, announced: () => void) {
  const { url, log, clock = systemClock, failpoints = NO_FAILPOINTS, strict = false } = from
  const tracer = await openTracing(config)
  const database = openDatabase({ url, poolMax: config.DATABASE_POOL, log, tracer, strict })
  const redis = config.REDIS_URL === undefined ? null : openRedis(config.REDIS_URL, log)
  const platform = {
    config,
    log,
    clock,
    failpoints,
    database,
    redis,
    metrics: new Metrics(config.METRICS_KEEP_MS, from.others ?? null),
    ledger: createLedger(createLedgerStore(database.statements, clock), clock),
    tracer,
    outbound: outboundClient({
      policy: { allowPrivate: config.ALLOW_PRIVATE_CALLBACKS, allowHosts: config.ALLOW_HOSTS },
      tracing: tracer === null ? null : { tracer, passed: false },
    }),
    vault: vaultOf(parseKeyring(config.VAULT_KEY ?? (await loadOrMakeKey(config.DATA_DIR)), config.VAULT_OLD_KEYS)),
    secret: await authSecretOf(config),
    outbox: createOutbox(clock, announced, tracer),
    facts: new Facts(),
    guestLimit: createRateLimit('pay', config.RATE_PAY_PER_MINUTE, redis),
    lease: (name: string) => createLease(database.statements, name, randomUUID()),
  }
  return platform satisfies Platform
}

interface From {
  url: string
  log: Logger
  clock?: Clock
  failpoints?: Failpoints
  strict?: boolean
  others?: ConstructorParameters<typeof Metrics>[1]
}

/** Without a collector the tracing library is not loaded. */
async function openTracing(config: Config): Promise<Tracing | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined) return null
  const { openTelemetry } = await import('../tracing/opentelemetry.ts')
  return openTelemetry({
    endpoint,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: config.OTEL_SERVICE_NAME,
    instance: `${hostname()}-${String(process.pid)}`,
    share: config.OTEL_TRACES_SAMPLER_ARG,
  })
}
