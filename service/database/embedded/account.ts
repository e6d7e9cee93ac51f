import { spawnSync } from 'node:child_process'
import { lchownSync, lstatSync, readdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { fault } from './fault.ts'

/** The user that PostgreSQL's programs run as. */
export interface Account {
  /** The arguments to put before every command. */
  readonly prefix: readonly string[]
  readonly spawn: { readonly uid?: number; readonly gid?: number }
  /** The user id that must own the data, as this process sees it. */
  readonly owner: number
}

/** PostgreSQL gets nothing of the caller's environment, because it reads a dozen PG… and LC_… variables. */
export const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

const NOBODY = 65534

/**
 * PostgreSQL refuses to run as root, and as a user without a name. Root starts it as the system's unprivileged user
 * (65534), if that user can reach the programs and the data. Otherwise, and for a user without a name, it runs in a
 * user namespace in which the caller has that user's number.
 */
export function chooseAccount(root: string, postgres: string): Account {
  const me = process.getuid?.()
  if (me === undefined)
    throw fault('The embedded database needs Linux or macOS: set DATABASE_URL to a PostgreSQL server.')
  const number = String(NOBODY)
  const prefix = ['unshare', '--user', `--map-user=${number}`, `--map-group=${number}`, '--']
  const namespace: Account = { prefix, spawn: {}, owner: me }
  const usual: Account =
    me === 0 ? { prefix: [], spawn: { uid: NOBODY, gid: NOBODY }, owner: NOBODY } : { prefix: [], spawn: {}, owner: me }

  const candidates = me === 0 || hasName() ? [usual, namespace] : [namespace]
  const tried = candidates.map((account) => ({ account, obstacle: obstacle(account, root, postgres) }))
  const found = tried.find((one) => one.obstacle === undefined)
  if (found !== undefined) return found.account
  if (me !== 0) {
    throw fault(
      `The embedded database cannot run as this user (${tried[0]?.obstacle ?? ''}): ` +
        'set DATABASE_URL to a PostgreSQL server.',
    )
  }
  throw fault(
    `PostgreSQL does not run as root and no other user can reach ${root} and ${path.dirname(postgres)}: move both where ` +
      'others may enter (DATA_DIR sets the first), run as an ordinary user, or set DATABASE_URL.',
  )
}

/** Changes the owner of the data when an earlier start ran as another user. Only root can. */
export function own(account: Account, folder: string): void {
  const owner = lstatSync(folder).uid
  if (owner === account.owner) return
  if (process.getuid?.() !== 0) {
    throw fault(
      `${folder} belongs to another user (${String(owner)}): run as that user, or set DATA_DIR to another folder.`,
    )
  }
  // The folder itself changes its owner last, so an interrupted change is noticed and repeated.
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    lchownSync(path.join(entry.parentPath, entry.name), account.owner, account.owner)
  }
  lchownSync(folder, account.owner, account.owner)
}

/** Containers often run under a user id that is not in their user list. */
function hasName(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}

/** Found out by trying, not from file modes: access lists, mounts and container rules also decide. */
function obstacle(account: Account, root: string, postgres: string): string | undefined {
  const script = 'cd "$1" && exec "$2" --version'
  const [program, ...args] = [...account.prefix, '/bin/sh', '-c', script, 'sh', root, postgres]
  const tried = spawnSync(program, args, { ...account.spawn, env: ENVIRONMENT, encoding: 'utf8', cwd: '/' })
  if (tried.status === 0) return undefined
  return (tried.error?.message ?? tried.stderr).trim().split('\n')[0] ?? 'unknown'
}
