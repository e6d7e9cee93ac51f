import type { RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Config, Role } from '../config.ts'
import type { Database } from '../database/client.ts'
import type { RateLimit } from '../api/limits.ts'
import type { Metrics } from '../api/metrics.ts'
import type { DescribedSurface } from '../api/openapi.ts'
import type { AnyRoute } from '../api/route.ts'
import type { Upgrade } from '../api/upgrades.ts'
import type { Clock } from '../kit/clock.ts'
import type { Tracer } from '../kit/tracer.ts'
import type { Ledger } from '../ledger/service.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Lease } from '../queue/lease.ts'
import type { Outbox, Sweeper, Topic } from '../queue/model.ts'
import type { Vault } from '../vault/vault.ts'

/** What every part of the service stands on; made once. */
export interface Ground {
  config: Config
  log: Logger
  clock: Clock
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
