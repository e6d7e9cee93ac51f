import { spawnSync } from 'node:child_process'
import { lchownSync, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fault } from './fault.ts'

/** As whom PostgreSQL's programs run. */
export interface Account {
  /** Put before every command. */
  readonly prefix: readonly string[]
  readonly spawn: { readonly uid?: number; readonly gid?: number }
  /** Who has to own the data, seen from here. */
  readonly owner: number
}

/** Nothing of the caller's environment reaches PostgreSQL: it reads a dozen PG… and LC_… variables. */
export const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

const NOBODY = 65534

/**
 * PostgreSQL refuses to run as root. As root, its programs run as nobody where nobody can reach them and
 * the data; beneath a folder of root's alone they run in a user namespace, where root bears nobody's number.
 */
export function chooseAccount(root: string, postgres: string): Account {
  const own = process.getuid?.()
  if (own === undefined) {
    throw fault('The embedded database needs Linux or macOS: set DATABASE_URL.')
  }
  if (own !== 0) return checked({ prefix: [], spawn: {}, owner: own }, root, postgres)

  const nobody: Account = { prefix: [], spawn: { uid: NOBODY, gid: NOBODY }, owner: NOBODY }
  if (reach(nobody, root, postgres) === undefined) return nobody
  const number = String(NOBODY)
  const prefix = ['unshare', '--user', `--map-user=${number}`, `--map-group=${number}`, '--']
  const namespace: Account = { prefix, spawn: {}, owner: 0 }
  if (reach(namespace, root, postgres) === undefined) return namespace

  throw fault(
    `PostgreSQL does not run as root and no other user can reach ${root} and ${path.dirname(postgres)}: move both where ` +
      'others may enter (DATA_DIR sets the first), run as an ordinary user, or set DATABASE_URL.',
  )
}

/** Gives the data to the account, where an earlier start ran as another. Only root can. */
export function own(account: Account, folder: string): void {
  const owner = lstatSync(folder).uid
  if (owner === account.owner) return
  if (process.getuid?.() !== 0) {
    throw fault(
      `${folder} belongs to another user (${String(owner)}): run as that user, or set DATA_DIR to another folder.`,
    )
  }
  // The folder itself comes last: an interrupted change is seen and done again.
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    lchownSync(path.join(entry.parentPath, entry.name), account.owner, account.owner)
  }
  lchownSync(folder, account.owner, account.owner)
}

function checked(account: Account, root: string, postgres: string): Account {
  const obstacle = reach(account, root, postgres)
  if (obstacle === undefined) return account
  throw fault(
    `The embedded database does not run on this machine (${obstacle}): set DATABASE_URL to a PostgreSQL server.`,
  )
}

/** Tried, not computed from modes: access lists, mounts and container rules decide as well. */
function reach(account: Account, root: string, postgres: string): string | undefined {
  const script = 'cd "$1" && exec "$2" --version'
  const [program, ...args] = [...account.prefix, '/bin/sh', '-c', script, 'sh', root, postgres]
  const tried = spawnSync(program, args, { ...account.spawn, env: ENVIRONMENT, encoding: 'utf8', cwd: '/' })
  if (tried.status === 0) return undefined
  return (tried.error?.message ?? tried.stderr).trim().split('\n')[0] ?? 'unknown'
}
