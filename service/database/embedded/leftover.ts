import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fault } from './fault.ts'
import { began } from './lock.ts'

/** What the server itself writes into `postmaster.pid` while it runs. */
export interface Leftover {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

/** The server that runs in the folder, if one does. */
export function leftover(folder: string): Leftover | undefined {
  const lines = pidFile(folder)
  const pid = Number(lines?.[0])
  if (lines === undefined || !Number.isInteger(pid) || pid <= 0 || !serves(pid, folder)) return undefined
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

/**
 * Ends a server that a killed service left running, and says whether there was one. The service does not connect to it,
 * because it does not know which process started it and with which settings.
 */
export async function stopLeftover(folder: string): Promise<boolean> {
  const found = leftover(folder)
  if (found !== undefined) await shutDown(found.pid)
  // Server processes outlive a killed postmaster for a moment; a new one beside them would lose data.
  if (!(await until(() => processesIn(folder).length === 0, 10_000))) {
    throw fault(
      `Processes ${processesIn(folder).join(', ')} of an earlier database server do not stop: end them yourself.`,
    )
  }
  dropStrangersNumber(folder)
  return found !== undefined
}

/**
 * Fast shutdown: it closes the sessions, and committed data is on disk. After 10 s an immediate shutdown, from which
 * the next start recovers.
 */
export async function shutDown(pid: number): Promise<void> {
  const start = began(pid)
  const gone = () => start === '' || began(pid) !== start
  signal(pid, 'SIGINT')
  if (await until(gone, 10_000)) return
  signal(pid, 'SIGQUIT')
  if (!(await until(gone, 5_000))) signal(pid, 'SIGKILL')
  await until(gone, 5_000)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function pidFile(folder: string): string[] | undefined {
  try {
    return readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return undefined
  }
}

/**
 * PostgreSQL takes any living process with the number in its file for a running server, and would never start again.
 */
function dropStrangersNumber(folder: string): void {
  const pid = Number(pidFile(folder)?.[0])
  if (!Number.isInteger(pid) || began(pid) === '') return
  if (commandOf(pid).includes('postgres')) {
    throw fault(`${folder} seems to be in use by the PostgreSQL server with process id ${String(pid)}: stop it first.`)
  }
  rmSync(path.join(folder, 'postmaster.pid'))
}

/** Whether this process is the server of this folder, and not another one with the same number. */
function serves(pid: number, folder: string): boolean {
  return began(pid) !== '' && commandOf(pid).includes(`postgres -D ${folder} `)
}

function commandOf(pid: number): string {
  return (
    quietly(() => {
      if (process.platform === 'linux')
        return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    }) ?? ''
  )
}

/** Each server process has its data folder as its working directory, where the system shows that. */
function processesIn(folder: string): string[] {
  const real = quietly(() => realpathSync(folder))
  if (process.platform !== 'linux' || real === undefined) return []
  return numbers('/proc').filter((pid) => {
    if (quietly(() => readlinkSync(`/proc/${pid}/cwd`)) !== real) return false
    return quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8'))?.startsWith('postgres') === true
  })
}

function numbers(folder: string): string[] {
  return quietly(() => readdirSync(folder).filter((name) => /^\d+$/.test(name))) ?? []
}

async function until(met: () => boolean, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds
  while (!met()) {
    if (performance.now() > deadline) return false
    await delay(10)
  }
  return true
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
