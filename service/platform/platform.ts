import type { RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Config, Role } from '../config.ts'
import { type Database, openDatabase } from '../database/client.ts'
import type { RateLimit } from '../api/limits.ts'
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
import { authSecretOf } from './keys.ts'
import { hostname } from 'node:os'
import type { Tracing } from '../tracing/opentelemetry.ts'

/** What every part of the service stands on; made once. */
export interface Platform {
  config: Config
  log: Logger
  clock: Clock
  failpoints: Failpoints
  database: Database
  /** Null without one: then whatever it would share is each process's own. */
  redis: Redis | null
  metrics: Metrics
  /** Null where nobody collects traces. */
  tracer: Tracer | null
  ledger: Ledger
  /** For addresses that users gave us. */
  outbound: Outbound
  vault: Vault
  /** Signs sessions, tokens and links; the same in every process. */
  secret: string
  outbox: Outbox
  /** One holder at a time over all processes. */
  lease(name: string): Lease
}

/** What a capability brings to the whole. Nothing of it runs before `start`. */
export interface Part {
  routes?: readonly { surface: SurfaceName; routes: readonly AnyRoute[] }[]
  /** Limits that its routes name. */
  limits?: Readonly<Record<string, RateLimit>>
  /** What speaks for itself, by path, where this process serves the role. */
  mounted?: readonly {
    role: Role
    path: string
    handler: RequestHandler
    /** Comes before our own headers for browsers, and sets all of them itself. */
    bare?: boolean
  }[]
  /** What the reference says of it, under its address. */
  described?: readonly (DescribedSurface & { role: Role })[]
  /** WebSockets, by path. */
  upgrades?: readonly (Upgrade & { role: Role })[]
  topics?: readonly Topic[]
  sweepers?: readonly Sweeper[]
  /** Its line in /readyz. */
  health?: Readonly<Record<string, () => unknown>>
  /** What has to be in memory before requests come, by name, and whether it is. Asking begins the loading. */
  ready?: Readonly<Record<string, () => Promise<boolean>>>
  start?(): Promise<void> | void
  stop?(): Promise<void>
}

/** The addresses under which declared routes are served; each is a role of its own. */
export type SurfaceName = 'api' | 'facilitator' | 'pay' | 'receipts' | 'tools' | 'gate'

/** `announced` is told of every row for the queue. */
export async function createPlatform(config: Config, from: From, announced: () => void) {
  const { url, log, clock = systemClock, failpoints = NO_FAILPOINTS } = from
  const tracer = await openTracing(config)
  const database = openDatabase({ url, poolMax: config.DATABASE_POOL, log, tracer })
  const platform = {
    config,
    log,
    clock,
    failpoints,
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
    secret: await authSecretOf(config),
    outbox: createOutbox(clock, announced, tracer),
    lease: (name: string) => createLease(database.statements, name, randomUUID()),
  }
  return platform satisfies Platform
}

interface From {
  url: string
  log: Logger
  clock?: Clock
  failpoints?: Failpoints
}

/** Without a collector nothing of it is loaded. */
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
