import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { filesUnder, hashOf, reachedFrom, sha256 } from '../../service/launch/fingerprint.mjs'

/** Data folders of PostgreSQL with all tables in them: making one takes longer than most of what `npm test` is called for. */
const CLUSTERS = path.resolve(import.meta.dirname, '../../.build/clusters')

/**
 * Fills a data folder with a copy of the prepared one. Without one, `make` fills the folder and leaves no server running in
 * it, and a copy of that is stored for the next run. There is only one for each clone: those of other tables are removed.
 */
export async function fillFolder(
  dataDir: string,
  make: () => Promise<void>,
  { folder = CLUSTERS, key = clusterKey() }: { folder?: string; key?: string } = {},
): Promise<void> {
  if (copied(path.join(folder, key), dataDir)) return
  await make()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = path.join(folder, `${key}.${String(process.pid)}.${randomBytes(4).toString('hex')}`)
  copyPlain(dataDir, draft)
  place(draft, path.join(folder, key))
  for (const name of readdirSync(folder)) {
    if (name !== key && !isBeingMade(name)) rmSync(path.join(folder, name), { recursive: true, force: true })
  }
}

/** What decides how a prepared folder looks: the migrations, and all code that makes and fills it. */
function clusterKey(): string {
  const code = reachedFrom(['test/harness/server.ts'])
  return sha256([
    hashOf([...code, ...filesUnder('prisma/migrations'), 'package-lock.json']),
    `${process.platform} ${process.arch} ${String(process.getuid?.())}`,
    // A copy is not written through to the disk: after a crash of the machine it may not be whole.
    boot(),
  ])
}

function copied(prepared: string, dataDir: string): boolean {
  if (!existsSync(prepared)) return false
  try {
    copyPlain(prepared, dataDir)
    return true
  } catch (error) {
    // Another run of this clone, with other migrations, has just removed it.
    if (existsSync(prepared)) throw error
    for (const name of readdirSync(dataDir)) rmSync(path.join(dataDir, name), { recursive: true })
    return false
  }
}

function copyPlain(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (source) => !/[/]service\.lock[^/]*$/.test(source) })
}

/** Of two runs that made the same one at once, one is stored. */
function place(draft: string, target: string): void {
  try {
    renameSync(draft, target)
  } catch (error) {
    if (!existsSync(target)) throw error
    rmSync(draft, { recursive: true })
  }
}

function isBeingMade(name: string): boolean {
  const pid = Number(name.split('.')[1])
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function boot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
  } catch {
    return ''
  }
}
