import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface Running {
  readonly pid: number
  readonly command: string
}

/** Every process whose command line names the folder: its database server and the server's watchdog. */
export function processesOf(folder: string): Running[] {
  return all().filter(({ command }) => command.includes(folder) && /bin\/postgres -D|coinslot-watchdog/.test(command))
}

/** The server's main process, by the file that it keeps itself: one that it has just forked still looks the same. */
export function serverOf(folder: string): number {
  return Number.parseInt(readFileSync(path.join(folder, 'postgres/postmaster.pid'), 'utf8'), 10)
}

/** Looks until there are none left, and answers what is left when the time is up. */
export async function leftOf(folder: string, milliseconds: number): Promise<Running[]> {
  const deadline = performance.now() + milliseconds
  while (processesOf(folder).length > 0 && performance.now() < deadline) await delay(20)
  return processesOf(folder)
}

function all(): Running[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).trim().split('\n')
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }))
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), command: commandOf(pid) }))
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // Gone between the listing and the look.
    return ''
  }
}
