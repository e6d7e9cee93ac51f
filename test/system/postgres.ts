import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openCluster, secureRoles } from '../../service/database/embedded/cluster.ts'
import { leftover, stopLeftover } from '../../service/database/embedded/leftover.ts'
import { startPostmaster, type Postmaster } from '../../service/database/embedded/postmaster.ts'
import { freePort } from '../harness/ports.ts'

/** A PostgreSQL server that a test can stop and restart, always at the same address and with its data. */
export interface PostgresServer {
  readonly url: string
  /** Fast: sessions are cut. Immediate: as after a power cut, it recovers from its log. */
  restart(mode?: Shutdown): Promise<void>
  stop(mode?: Shutdown): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export type Shutdown = 'fast' | 'immediate'

export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const root = mkdtempSync(path.join(tmpdir(), 'coinslot-postgres-'))
  const folder = path.join(root, 'postgres')
  const port = await freePort()
  const cluster = await openCluster(root)
  const launch = (): Promise<Postmaster> =>
    startPostmaster({
      ...cluster,
      folder,
      port,
      settings: { max_connections: '300', ...settings },
      logFile: `${folder}.log`,
    })
  let running: Postmaster | null = await launch()
  await secureRoles(root, port, cluster.credentials)

  async function stop(mode: Shutdown = 'fast'): Promise<void> {
    const stopping = running
    running = null
    const server = leftover(folder)
    if (stopping === null) return
    if (server !== undefined) process.kill(server.pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await stopping.exited
    // A server's shared memory is released only after a moment.
    await stopLeftover(folder)
  }
  async function start(): Promise<void> {
    running ??= await launch()
  }
  return {
    url: `postgresql://coinslot:${cluster.credentials.password}@127.0.0.1:${String(port)}/coinslot`,
    async restart(mode) {
      await stop(mode)
      await start()
    },
    stop,
    start,
    async close() {
      await stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
