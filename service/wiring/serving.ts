import { createApp } from '../api/app.ts'
import { Idempotency } from '../api/idempotency.ts'
import { createRateLimit } from '../api/limits.ts'
import type { Surface } from '../api/openapi.ts'
import { unreadiness, type Health } from '../api/health.ts'
import { limitAddresses } from '../api/requests.ts'
import { mountTrpc } from '../api/trpc.ts'
import type { Connections } from '../connections/service/connections.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import type { Config, Role } from '../config.ts'
import { isMigrated, readMigrations } from '../database/migrate.ts'
import type { Pace } from '../queue/model.ts'
import { createQueue, type Queue } from '../queue/queue.ts'
import type { AppRouter } from './dashboard-router.ts'
import type { identifier } from './identity.ts'
import type { Platform, Part, SurfaceName } from './platform.ts'

/** The surfaces of this process: each address with the routes of all parts. */
function surfacesOf(config: Config, parts: readonly Part[]): Surface[] {
  const names: SurfaceName[] = ['api', 'facilitator', 'pay', 'receipts', 'tools', 'gate']
  return names
    .filter((name) => config.ROLES.includes(name === 'receipts' ? 'pay' : name))
    .map((name) => ({
      name,
      address: config.addresses[name],
      routes: parts.flatMap(({ routes }) => routes ?? []).flatMap((of) => (of.surface === name ? of.routes : [])),
    }))
    .filter(({ routes }) => routes.length > 0)
}

/** The health details of each part; a part that fails to report does not block the others. */
async function healthOf(parts: readonly Part[]): Promise<Record<string, unknown>> {
  const asked = parts.flatMap(({ health }) => Object.entries(health ?? {}))
  const told = asked.map(async ([name, ask]) => {
    try {
      return [name, await ask()] as const
    } catch {
      return [name, 'unknown'] as const
    }
  })
  return Object.fromEntries(await Promise.all(told))
}

/** The name of the first thing that a part has still to load; a part whose check fails counts as not loaded. */
async function loadingOf(parts: readonly Part[]): Promise<string | null> {
  for (const [name, isReady] of parts.flatMap(({ ready }) => Object.entries(ready ?? {})))
    if (!(await isReady().catch(() => false))) return name
  return null
}

export function topicsOf(parts: readonly Part[]): string[] {
  return parts.flatMap(({ topics }) => topics ?? []).map(({ topic }) => topic)
}

export function openQueue(
  platform: Platform,
  { url, pace }: { url: string; pace?: Partial<Pace> },
  parts: readonly Part[],
): Queue {
  const { config, clock, log, database, ledger, metrics, tracer } = platform
  return createQueue({
    statements: database.statements,
    clock,
    log,
    backend:
      config.REDIS_URL === undefined
        ? { kind: 'postgres', connectionString: url }
        : { kind: 'redis', url: config.REDIS_URL },
    topics: parts.flatMap(({ topics }) => topics ?? []),
    sweepers: [
      { name: 'ledger.locks', everyMs: 1_000, run: async () => metrics.count('lock_expired', await ledger.sweep()) },
      ...parts.flatMap(({ sweepers }) => sweepers ?? []),
    ],
    measures: metrics.ofQueue(),
    tracer,
    ...(pace === undefined ? {} : { pace }),
  })
}

/** The HTTP server of this process, with everything that its roles serve. */
export async function openServer(
  platform: Platform,
  { parts, identify, appRouter, queue, budgets, connections }: ServerDeps,
) {
  const { config, clock, log, database, metrics, redis, tracer } = platform
  const idempotency = new Idempotency(database.statements, clock)
  const limit = createRateLimit('api', config.RATE_API_PER_MINUTE, redis)
  const surfaces = surfacesOf(config, parts)
  const isServed = ({ role }: { role: Role }): boolean => config.ROLES.includes(role)
  const mounted = [
    { role: 'dashboard' as const, path: '/trpc', handler: limitAddresses(limit) },
    ...parts.flatMap(({ mounted }) => mounted ?? []),
    {
      role: 'dashboard' as const,
      path: '/trpc',
      handler: mountTrpc(appRouter, identify, { idempotency, clock, limit, bodyBytesMax: config.BODY_BYTES_MAX }),
    },
  ].filter(isServed)
  const upgrades = parts.flatMap(({ upgrades }) => upgrades ?? []).filter(isServed)
  const migrations = await readMigrations()
  let draining = false
  const health: Health = {
    draining: () => draining,
    loading: () => loadingOf(parts),
    database: () =>
      database
        .ping()
        .then(() => isMigrated(database.pool, migrations))
        .catch(() => false),
    parts: async () => ({
      queue: await queue.health().catch(() => 'unknown'),
      redis: redis === null ? 'not used' : redis.status === 'ready' ? 'ok' : 'away',
      ...(await healthOf(parts)),
    }),
  }
  const app = createApp({
    clock,
    log,
    metrics,
    tracing: tracer === null ? null : { tracer, trusted: config.TRACE_INCOMING === 'continue' },
    idempotency,
    limit,
    limits: Object.fromEntries(parts.flatMap(({ limits }) => Object.entries(limits ?? {}))),
    identify,
    health,
    surfaces,
    described: parts.flatMap(({ described }) => described ?? []).filter(isServed),
    dashboard: config.addresses.dashboard,
    procedures: appRouter._def.procedures,
    mounted,
    upgrades,
    https: Object.values({ ...config.addresses }).every((address) => address.startsWith('https:')),
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    bodyBytesMax: config.BODY_BYTES_MAX,
    streams: {
      checkMs: config.STREAM_CHECK_MS,
      lifeMs: config.STREAM_LIFE_MS,
      perAccount: config.QUOTA_EVENT_STREAMS,
    },
    metricsToken: config.METRICS_TOKEN,
    live: config.LIVE,
    topUpUrl: config.TOP_UP_URL,
    awaitWord: (held, waitMs, { caller, gone }) =>
      held.code === 'connection_required'
        ? connections.use.awaitConnected(caller, String(held.fields['provider']), waitMs, gone)
        : budgets.approvals.awaitDecision(String(held.fields['approvalId']), waitMs, gone),
  })
  return {
    app,
    /** Everything that this process serves, for the tests that go through all of it. */
    served: { surfaces, mounted: mounted.map(({ path }) => path), upgrades: upgrades.map(({ path }) => path) },
    /** Null once this process is ready; otherwise what it still waits for. */
    waitsFor: async (): Promise<string | null> => (await unreadiness(health)).fault,
    startDraining(): void {
      draining = true
    },
  }
}

interface ServerDeps {
  parts: readonly Part[]
  identify: ReturnType<typeof identifier>
  appRouter: AppRouter
  queue: Queue
  budgets: Budgets
  connections: Connections
}
