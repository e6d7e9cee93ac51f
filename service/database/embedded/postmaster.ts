import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ENVIRONMENT } from './account.ts'
import type { Cluster } from './cluster.ts'
import { fault } from './fault.ts'
import { leftover, shutDown } from './leftover.ts'

export interface Postmaster {
  readonly port: number
  /** Settles when the server has ended, for any reason. */
  readonly exited: Promise<void>
  stop(): Promise<void>
}

export interface PostmasterOptions extends Pick<Cluster, 'account' | 'binaries'> {
  readonly folder: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly logFile: string
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path may be at most 107 bytes long, and a data folder may lie deeper.
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  max_connections: '100',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
  max_wal_size: '1GB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // This level is above ERROR: a violated constraint is a normal answer to the service and not worth a line in the log.
  log_min_messages: 'log',
}

const LOG_BYTES_MAX = 10_000_000

/** Starts the server and returns when it takes connections. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { folder, port, logFile } = options
  const log = openLog(logFile)
  const from = statSync(logFile).size
  const child = spawnServer(options, log)
  closeSync(log)
  const exited = new Promise<void>((resolve) =>
    child
      .once('error', () => {
        resolve()
      })
      .once('exit', () => {
        resolve()
      }),
  )
  let ended = false
  void exited.then(() => (ended = true))

  const { pid } = child
  const watchdog = pid === undefined ? undefined : startWatchdog(pid, folder)
  void exited.then(() => watchdog?.end('done\n'))

  while (leftover(folder)?.ready !== true) {
    if (ended || pid === undefined)
      throw fault(`The embedded database server did not start: ${complaint(logFile, from)}`)
    await delay(10)
  }
  return {
    port,
    exited,
    stop: async () => {
      child.ref()
      if (!ended) await shutDown(pid ?? 0)
      await exited
    },
  }
}

/**
 * In its own session: Ctrl-C in the terminal reaches only the service, which finishes its work before it stops the
 * server.
 */
function spawnServer({ account, binaries, folder, port, settings }: PostmasterOptions, log: number): ChildProcess {
  const given = Object.entries({ ...SETTINGS, ...settings, port: String(port) })
  const flags = given.flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const [program = '', ...args] = [...account.prefix, binaries.postgres, '-D', folder, ...flags]
  const child = spawn(program, args, {
    ...account.spawn,
    env: ENVIRONMENT,
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
  })
  child.unref()
  return child
}

/**
 * A shell that waits until the pipe from this process closes, and then shuts the server down. The pipe closes however
 * the process ends, also by kill -9. A line through the pipe says that nothing is left to do.
 */
function startWatchdog(pid: number, folder: string): Writable {
  const script = `
    read -r word && exit
    ours() { [ "$(head -n 1 "$2/postmaster.pid" 2>/dev/null)" = "$1" ]; }
    ours "$@" && kill -INT "$1" || exit
    for second in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 "$1" && ours "$@" || exit; done
    kill -QUIT "$1"`
  const watchdog = spawn('/bin/sh', ['-c', script, 'coinslot-watchdog', String(pid), folder], {
    env: ENVIRONMENT,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watchdog.unref()
  // At a second notice the shell has already ended.
  watchdog.stdin.on('error', () => undefined)
  // The stream is a socket, which the types do not show. While it is open it would keep this process running.
  const { stdin }: { stdin: Writable & { unref?: () => void } } = watchdog
  stdin.unref?.()
  return watchdog.stdin
}

/** The server writes to a file and not through this process, because it must be able to outlive it. */
function openLog(file: string): number {
  try {
    if (statSync(file).size > LOG_BYTES_MAX) renameSync(file, `${file}.1`)
  } catch {
    // There is no log file yet.
  }
  return openSync(file, 'a', 0o600)
}

function complaint(logFile: string, from: number): string {
  const lines = readFileSync(logFile).subarray(from).toString('utf8').trim().split('\n')
  const telling = lines.filter((line) => /FATAL|PANIC|could not|error/i.test(line))
  const reason = (telling.length > 0 ? telling : lines).slice(-3).join(' ')
  return `${reason} (see ${path.basename(logFile)} in the data folder for the full log).`
}
