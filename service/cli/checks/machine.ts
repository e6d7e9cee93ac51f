import { existsSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { isReachedLocally, type Config } from '../../config.ts'
import { isLoopback } from '../../kit/http.ts'
import { fault, fine, warning, type Finding, type CheckContext } from './model.ts'

/** What the process stands on: room on disk, files that it may open, and the secrets that all processes must share. */
export async function checkMachine({ config }: CheckContext): Promise<readonly Finding[]> {
  return [...secrets(config), await disk(config), ...openFiles()]
}

function secrets(config: Config): Finding[] {
  const shared = config.DATABASE_URL !== undefined
  const own = `each machine creates its own in ${config.DATA_DIR}, and refuses sessions and quotes of the others`
  return [
    config.AUTH_SECRET === undefined
      ? shared
        ? warning('AUTH_SECRET', `Is not set, and ${own}.`)
        : fine('AUTH_SECRET', `Is created and stored in ${config.DATA_DIR}.`)
      : new Set(config.AUTH_SECRET).size < DIFFERENT_LEAST
        ? fault('AUTH_SECRET', 'Is too easy to guess: use the output of "openssl rand -base64 32".')
        : fine('AUTH_SECRET', 'Is set.'),
    ...(config.LIVE ? liveWarnings(config) : []),
    ...privateCalls(config),
  ]
}

/** The sign-up of a sandbox is open to all who reach it. */
function privateCalls({ ALLOW_PRIVATE_CALLBACKS, HOST, LIVE, addresses }: Config): Finding[] {
  const isLocal = !LIVE && isReachedLocally(addresses)
  if (!ALLOW_PRIVATE_CALLBACKS || (isLocal && (HOST === '::1' || isLoopback(HOST)))) return []
  const remedy = isLocal ? 'Set HOST=127.0.0.1 unless others need to reach this machine, or set' : 'Set'
  const says = `Is on: any account can make this server call your private network. ${remedy} ALLOW_PRIVATE_CALLBACKS=false.`
  return [warning('ALLOW_PRIVATE_CALLBACKS', says)]
}

function liveWarnings(config: Config): Finding[] {
  const checks: readonly [name: keyof Config, isUnsafe: boolean, says: string][] = [
    ['METRICS_TOKEN', config.METRICS_TOKEN === undefined, 'Is not set: /metrics needs no token. Set it.'],
    [
      'TRUST_PROXY',
      config.TRUST_PROXY.length === 0,
      'Is not set: behind a proxy all callers seem to come from one address and share its limits.',
    ],
  ]
  return checks.filter(([, isUnsafe]) => isUnsafe).map(([name, , says]) => warning(name, says))
}

async function disk({ DATA_DIR, DATABASE_URL }: Config): Promise<Finding> {
  const folder = nearest(path.resolve(DATA_DIR))
  const { bavail, blocks, bsize } = await statfs(folder)
  const free = bavail * bsize
  // In a container that may be a disk in memory.
  const ofDatabase =
    DATABASE_URL === undefined ? '' : " The database's own disk cannot be seen from here: watch it there."
  const says = `${(free / 1e9).toFixed(1)} GB are free where ${folder} is.${ofDatabase}`
  if (free < DISK_FAULT) return fault('disk', `${says} A full disk stops the database in the middle of a payment.`)
  return free < DISK_WARNING || bavail / blocks < 0.05 ? warning('disk', says) : fine('disk', says)
}

function nearest(folder: string): string {
  return existsSync(folder) || path.dirname(folder) === folder ? folder : nearest(path.dirname(folder))
}

/** Each connection of a caller, a creator or the database is one. Only Linux says how many there may be. */
function openFiles(): Finding[] {
  if (!existsSync('/proc/self/limits')) return []
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const most = soft === 'unlimited' ? Infinity : Number(soft)
  const says = `${soft} files may be open at once.`
  if (most < FILES_FAULT) return [fault('open files', `${says} Raise it (ulimit -n, LimitNOFILE=) to 4096 or more.`)]
  return [
    most < FILES_WARNING ? warning('open files', `${says} Busy servers need 4096 or more.`) : fine('open files', says),
  ]
}

const DIFFERENT_LEAST = 10
const DISK_FAULT = 200_000_000
const DISK_WARNING = 2_000_000_000
const FILES_FAULT = 1_024
const FILES_WARNING = 4_096
