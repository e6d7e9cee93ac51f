import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/** The key and the server: those of the environment, else those of `coinslot login`. */
export interface Settings {
  key: string | null
  environmentKey: string | null
  url: string | undefined
  /** The other server that the stored key is for. */
  keyIsFor: string | null
  file: string
}

interface Stored {
  key?: string
  url?: string
  /** By endpoint: the API shows a secret only once. */
  secrets?: Record<string, string>
}

export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const folder = filled(environment['XDG_CONFIG_HOME']) ?? path.join(homedir(), '.config')
  const file = path.join(folder, 'coinslot', 'config.json')
  const stored = read(file)
  const url = filled(environment['COINSLOT_URL']) ?? stored.url
  const environmentKey = filled(environment['COINSLOT_KEY']) ?? null
  const key = environmentKey ?? keyFor(url, stored)
  const keyIsFor = key === null && stored.key !== undefined ? originOf(stored.url) : null
  return { key, environmentKey, url, keyIsFor, file }
}

/** The key is for the server that gave it: another one does not get it. */
function keyFor(url: string | undefined, stored: Stored): string | null {
  const isSame = url === stored.url || (originOf(url) !== null && originOf(url) === originOf(stored.url))
  return isSame ? (stored.key ?? null) : null
}

function originOf(url: string | undefined): string | null {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : null
}

/** An empty variable counts as unset. */
function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

export function saveLogin({ file }: Settings, login: { key: string; url: string | undefined }): void {
  write(file, {
    secrets: read(file).secrets ?? {},
    key: login.key,
    ...(login.url === undefined ? {} : { url: login.url }),
  })
}

export function secretOf({ file }: Settings, endpoint: string): string | undefined {
  return read(file).secrets?.[endpoint]
}

export function saveSecret({ file }: Settings, endpoint: string, secret: string): void {
  const stored = read(file)
  write(file, { ...stored, secrets: { ...stored.secrets, [endpoint]: secret } })
}

function read(file: string): Stored {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stored
  } catch {
    return {}
  }
}

/** Only its owner may read it, and a reader never sees half of it. */
function write(file: string, stored: Stored): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${String(process.pid)}`
  writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
}
