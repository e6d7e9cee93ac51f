import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import { createLog } from '../api/log.ts'
import { tellFaults } from '../cli/checks/all.ts'
import type { MetricValues } from '../api/metrics.ts'
import { secretsOf, type Config } from '../config.ts'
import { startEmbedded } from '../database/embedded/database.ts'
import { greeting } from '../greeting.ts'
import type { Log } from '../kit/log.ts'
import { restartAfterMs, shareOut, withheldFrom, type Order, type Report, type Share } from './model.ts'

/** One of the processes, or the place of one that ended and will be started again. */
interface Place {
  name: string
  share: Share
  worker: Worker | null
  deaths: number
}

/**
 * Starts the processes that share the port, restarts one that ends, and stops them in order. It serves nothing itself: the
 * system's connections are handed to the others in turn.
 */
export async function runProcesses(config: Config, processes: number, program: string): Promise<void> {
  const log = createLog(config.LOG_LEVEL, secretsOf(config))
  const settings = { max_connections: String(Math.max(100, processes * (config.DATABASE_POOL + OWN_CONNECTIONS))) }
  const server =
    config.DATABASE_URL === undefined ? await startEmbedded({ dataDir: config.DATA_DIR, log, settings }) : null
  const group = new Group(log, { url: server?.url ?? config.DATABASE_URL ?? '', program })
  const stop = once(async (notice: boolean) => {
    await group.stop(notice)
    await server?.stop()
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => {
        group.kill()
        process.exit(130)
      })
      log.info({ signal }, 'stopping')
      void stop(signal === 'SIGTERM').then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'could not stop in order')
          process.exit(1)
        },
      )
    })
  }
  const places = shareOut(config.ROLES, processes).map((share, at) => ({ name: String(at + 1), share }))
  try {
    const { port, demoKey } = await group.start(places)
    log.info({ port, processes }, 'ready')
    if (!config.LIVE && port !== null) process.stdout.write(greeting(config, port, demoKey))
    if (config.LIVE) tellFaults(config)
  } catch (error) {
    await stop(false)
    throw error
  }
}

/** Beside its pool, each process listens for what is announced and reads the queue. */
const OWN_CONNECTIONS = 5
/** One that has run for so long did not fail at its start. */
const STEADY_MS = 60_000
const METRICS_WITHIN_MS = 2_000
/** A process drains for 20 seconds; the rest of 30 is for what comes after. */
const STOP_WITHIN_MS = 28_000

class Group {
  private readonly log: Log
  private readonly from: { url: string; program: string }
  private places: Place[] = []
  private stopping = false
  private asks = 0
  private readonly gathering = new Map<number, (worker: Worker, values: MetricValues) => void>()

  constructor(log: Log, from: { url: string; program: string }) {
    this.log = log
    this.from = from
  }

  /** The first alone, since a first start makes tables, secrets and the demo account; then the others at once. */
  async start(
    named: readonly { name: string; share: Share }[],
  ): Promise<{ port: number | null; demoKey: string | null }> {
    cluster.setupPrimary({ exec: this.from.program, execArgv: [...process.execArgv, '--enable-source-maps'] })
    this.places = named.map((place) => ({ ...place, worker: null, deaths: 0 }))
    const first = await Promise.all(this.places.slice(0, 1).map((place) => this.begin(place)))
    const ready = [...first, ...(await Promise.all(this.places.slice(1).map((place) => this.begin(place))))]
    return {
      port: ready.find(({ port }) => port !== null)?.port ?? null,
      demoKey: ready.find(({ demoKey }) => demoKey !== null)?.demoKey ?? null,
    }
  }

  async stop(notice: boolean): Promise<void> {
    this.stopping = true
    const gone = this.workers().map(
      (worker) =>
        new Promise<void>((resolve) => {
          worker.once('exit', () => {
            resolve()
          })
          tell(worker, { kind: 'stop', notice })
        }),
    )
    const late = new AbortController()
    await Promise.race([Promise.all(gone), wait(STOP_WITHIN_MS, undefined, { signal: late.signal }).catch(() => null)])
    late.abort()
    this.kill()
  }

  kill(): void {
    this.stopping = true
    for (const worker of this.workers()) worker.process.kill('SIGKILL')
  }

  private workers(): Worker[] {
    return this.places.flatMap(({ worker }) => (worker === null ? [] : [worker]))
  }

  /** Resolves when it is ready; a process that ends before rejects, and is not started again by this. */
  private async begin(place: Place): Promise<Extract<Report, { kind: 'ready' }>> {
    const { name, share } = place
    const settings = { DATABASE_URL: this.from.url, ROLES: share.roles.join(',') }
    const worker = cluster.fork({ ...settings, ...withheldFrom(share.roles) })
    place.worker = worker
    const started = performance.now()
    let isReady = false
    return await new Promise((resolve, reject) => {
      worker.on('message', (report: Report) => {
        if (report.kind === 'here') tell(worker, { kind: 'begin', name, listens: share.listens })
        else if (report.kind === 'metrics wanted') void this.gather(worker, report.ask)
        else if (report.kind === 'metrics') this.gathering.get(report.ask)?.(worker, report.values)
        else {
          isReady = true
          resolve(report)
        }
      })
      worker.once('exit', (code, signal) => {
        place.worker = null
        if (!isReady) reject(new StartFailed(name))
        else if (!this.stopping) {
          this.log.error({ process: name, code, signal }, 'A process ended unexpectedly and is started again.')
          if (performance.now() - started > STEADY_MS) place.deaths = 0
          void this.again(place)
        }
      })
    })
  }

  private async again(place: Place): Promise<void> {
    await wait(restartAfterMs(place.deaths++))
    if (this.stopping) return
    await this.begin(place).then(
      () => {
        this.log.info({ process: place.name }, 'The process is ready again.')
      },
      () => {
        if (!this.stopping) void this.again(place)
      },
    )
  }

  /** Of those that answer in time: one that hangs must not take the others' metrics with it. */
  private async gather(asker: Worker, ask: number): Promise<void> {
    const id = this.asks++
    const asked = new Set(this.workers())
    const of: MetricValues[] = []
    const late = new AbortController()
    await new Promise<void>((resolve) => {
      this.gathering.set(id, (worker, values) => {
        if (asked.delete(worker)) of.push(values)
        if (asked.size === 0) resolve()
      })
      for (const worker of asked) tell(worker, { kind: 'metrics wanted', ask: id })
      void wait(METRICS_WITHIN_MS, undefined, { signal: late.signal }).then(resolve, () => undefined)
    })
    late.abort()
    this.gathering.delete(id)
    tell(asker, { kind: 'metrics', ask, of })
  }
}

/** One that has just ended cannot be told. */
function tell(worker: Worker, order: Order): void {
  if (worker.isConnected()) worker.send(order, () => undefined)
}

class StartFailed extends Error {
  constructor(name: string) {
    super(`Process ${name} did not start; what it wrote above says why.`)
  }
}

function once(work: (notice: boolean) => Promise<void>): (notice: boolean) => Promise<void> {
  let running: Promise<void> | null = null
  return (notice) => (running ??= work(notice))
}
