import { accessSync, constants, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import path from 'node:path'
import { stopLeftover } from '../../service/database/embedded/leftover.ts'
import { lockHolder } from '../../service/database/embedded/lock.ts'

/**
 * Where the tests' server stores its files: in memory where there is plenty of it, since a database is a thousand
 * files, and creating them on a disk takes longer than most tests.
 */
export async function quickFolder(prefix: string): Promise<string> {
  try {
    await clear(MEMORY, prefix)
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ROOM || freemem() < 2 * ROOM) return tmpdir()
    accessSync(MEMORY, constants.W_OK)
    return MEMORY
  } catch {
    // Another system, or another user's.
    return tmpdir()
  }
}

/** Runs that were killed leave their files in memory until the machine restarts, so they are removed here. */
async function clear(folder: string, prefix: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const root = path.join(folder, name)
    if (!name.startsWith(prefix) || Date.now() - statSync(root).mtimeMs < AN_HOUR_MS) continue
    if (lockHolder(root) !== undefined) continue
    await stopLeftover(path.join(root, 'postgres'))
    rmSync(root, { recursive: true, force: true })
  }
}

const MEMORY = '/dev/shm'
/** Enough for some databases at once, and their write-ahead log. */
const ROOM = 3_000_000_000
const AN_HOUR_MS = 3_600_000
