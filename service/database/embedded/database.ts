import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../kit/log.ts'
import { fault } from './fault.ts'
import { openCluster, readCredentials, secureRoles, type Credentials } from './cluster.ts'
import { lockFolder, lockHolder, type Lock } from './lock.ts'
import { startPostmaster, type Postmaster } from './postmaster.ts'
import { leftover, stopLeftover } from './leftover.ts'

/** Our own PostgreSQL under the data folder, for operators without one: a real server, a child of this process. */
export interface Embedded {
  /** As the role `coinslot`, which owns its database and is no superuser. */
  readonly url: string
  /** As the superuser, for making and dropping databases. */
  readonly adminUrl: string
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  readonly log?: Log
  /** More server settings, over those of `postmaster.ts`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether one whose data was moved to a server starts all the same. */
  readonly moved?: 'refused' | 'allowed'
}

export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, log, settings = {}, moved = 'refused' } = options
  if (moved === 'refused') assertNotMoved(dataDir)
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const root = realpathSync(dataDir)
  // As root, the server runs as another user. That user must be able to enter this folder, but not to list it.
  if (process.getuid?.() === 0) chmodSync(root, (statSync(root).mode & 0o777) | 0o011)
  const lock = lockFolder(root)
  try {
    return await startLocked(root, lock, log, settings)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** From now on a start without DATABASE_URL is refused: it would go on with balances as old as the move. */
export function markMoved(dataDir: string): void {
  writeFileSync(markerOf(dataDir), 'The data was moved to a server by npm run move.\n', { mode: 0o600 })
}

function assertNotMoved(dataDir: string): void {
  const marker = markerOf(dataDir)
  if (!existsSync(marker)) return
  throw fault(
    `The data of the embedded database in ${dataDir} was moved to a server: set DATABASE_URL to its address. To use the old data on purpose, remove ${marker}.`,
  )
}

export function markerOf(dataDir: string): string {
  return path.join(dataDir, 'moved')
}

/** For tools: the running server of the data folder when a service holds it, else one until `stop`. */
export async function attachOrStart(options: EmbeddedOptions): Promise<Embedded> {
  const root = existsSync(options.dataDir) ? realpathSync(options.dataDir) : options.dataDir
  const deadline = performance.now() + 30_000
  // The process that holds the folder may still be starting, or just stopping.
  while (lockHolder(root) !== undefined && performance.now() < deadline) {
    const server = leftover(path.join(root, 'postgres'))
    const credentials = readCredentials(root)
    if (server?.ready === true && credentials?.secured === true) {
      return { ...urls(server.port, credentials), stop: () => Promise.resolve() }
    }
    await delay(50)
  }
  return startEmbedded(options)
}

async function startLocked(
  root: string,
  lock: Lock,
  log: Log | undefined,
  settings: Readonly<Record<string, string>>,
): Promise<Embedded> {
  const folder = path.join(root, 'postgres')
  if (await stopLeftover(folder)) log?.warn({}, 'Stopped the database server that an earlier service left behind.')
  const cluster = await openCluster(root)
  const start = (port: number) => startPostmaster({ ...cluster, folder, port, settings, logFile: `${folder}.log` })

  // Below the port numbers that systems use for outgoing connections, so that none of those blocks a restart.
  let postmaster = await persistently(() => start(randomInt(15_000, 32_000)))
  const { port } = postmaster
  let stopping = false
  let reviving: Promise<void> = Promise.resolve()

  /** Restarts a crashed server on the same port, so that the pools reconnect by themselves. */
  const revive = async () => {
    log?.warn({}, 'The embedded database server ended unexpectedly and is started again.')
    await stopLeftover(folder)
    if (stopping) return
    postmaster = await persistently(() => start(port))
    watch(postmaster)
  }
  const watch = (watched: Postmaster) => {
    void watched.exited.then(() => {
      if (stopping) return
      reviving = revive().catch((error: unknown) => {
        log?.error({ err: error }, 'The embedded database server could not be started again.')
      })
    })
  }

  const stop = async () => {
    stopping = true
    await reviving
    await postmaster.stop()
    lock.release()
  }
  try {
    if (!cluster.credentials.secured) await secureRoles(root, port, cluster.credentials)
  } catch (error) {
    stopping = true
    await postmaster.stop()
    throw error
  }
  watch(postmaster)
  let stopped: Promise<void> | undefined
  return { ...urls(port, cluster.credentials), stop: () => (stopped ??= stop()) }
}

/** Retries: another program may use the port, and the memory of a crashed server is freed only after a moment. */
async function persistently(start: () => Promise<Postmaster>): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (attempt === 10 || !/could not bind|still in use/.test(String(error))) throw error
      await delay(attempt * 50)
    }
  }
}

function urls(port: number, credentials: Credentials): { url: string; adminUrl: string } {
  return {
    url: `postgresql://coinslot:${credentials.password}@127.0.0.1:${String(port)}/coinslot`,
    adminUrl: `postgresql://postgres:${credentials.adminPassword}@127.0.0.1:${String(port)}/postgres`,
  }
}
