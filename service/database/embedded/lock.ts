import { execFileSync } from 'node:child_process'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DomainError } from '../../kit/errors.ts'

/** Lets only one service process at a time use a data folder. */
export interface Lock {
  release(): void
}

interface Holder {
  readonly pid: number
  /** The system reuses process ids, but a process id together with its start time is unique. */
  readonly began: string
}

export function lockFolder(root: string): Lock {
  const file = lockFile(root)
  const mine = JSON.stringify({ pid: process.pid, began: began(process.pid) } satisfies Holder)
  const draft = `${file}.${String(process.pid)}`
  for (;;) {
    // A link appears with its whole content or not at all, so no process reads half a lock.
    writeFileSync(draft, mine, { mode: 0o600 })
    const taken = link(draft, file)
    rmSync(draft)
    if (taken)
      return {
        release: () => {
          release(file, mine)
        },
      }

    const found = read(file)
    if (found === undefined) continue
    const holder = alive(found)
    if (holder !== undefined) throw inUse(root, holder)
    setAside(file, found)
  }
}

/** The living process that has the data folder, if any. */
export function lockHolder(root: string): number | undefined {
  const found = read(lockFile(root))
  return found === undefined ? undefined : alive(found)
}

/** When a process began, as this system writes it. Empty when there is no such process. */
export function began(pid: number): string {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    }
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may hold anything, so count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return fields[0] === 'Z' ? '' : `${boot} ${fields[19] ?? ''}`
  } catch {
    return ''
  }
}

function lockFile(root: string): string {
  return path.join(root, 'service.lock')
}

function inUse(root: string, pid: number): DomainError {
  return new DomainError(
    'conflict',
    'data_dir_in_use',
    `Another process (${String(pid)}) is using the data in ${root}: stop it first, or set DATA_DIR to another folder.`,
  )
}

function alive(text: string): number | undefined {
  let holder: Partial<Holder>
  try {
    holder = JSON.parse(text) as Partial<Holder>
  } catch {
    return undefined
  }
  if (typeof holder.pid !== 'number') return undefined
  const now = began(holder.pid)
  return now !== '' && now === holder.began ? holder.pid : undefined
}

/** Moves the lock of a dead process away, unless a living process has replaced it in the meantime. */
function setAside(file: string, judged: string): void {
  const aside = `${file}.${String(process.pid)}.dead`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  if (read(aside) !== judged) link(aside, file)
  rmSync(aside, { force: true })
}

function release(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true })
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
