import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  chownSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { chooseAccount, ENVIRONMENT, own, type Account } from './account.ts'
import { findBinaries, type Binaries } from './binaries.ts'
import { fault } from './fault.ts'

/** What is needed to start and enter the server of a data folder. */
export interface Cluster {
  readonly binaries: Binaries
  readonly account: Account
  readonly credentials: Credentials
}

export interface Credentials {
  readonly adminPassword: string
  readonly password: string
  /** Whether the role and its database were made. */
  readonly secured: boolean
}

const MAJOR = '17'

export async function openCluster(root: string): Promise<Cluster> {
  const binaries = findBinaries()
  const account = chooseAccount(root, binaries.postgres)
  const folder = path.join(root, 'postgres')
  const credentials = readCredentials(root) ?? newCredentials(root, folder)
  if (existsSync(folder)) {
    checkVersion(folder)
    own(account, folder)
  } else {
    await create(root, folder, { binaries, account, credentials })
  }
  return { binaries, account, credentials }
}

export function readCredentials(root: string): Credentials | undefined {
  try {
    return JSON.parse(readFileSync(credentialsFile(root), 'utf8')) as Credentials
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates the role that the service uses, and its database. A step may already have been done before a crash. */
export async function secureRoles(root: string, port: number, credentials: Credentials): Promise<void> {
  const { adminPassword, password } = credentials
  const server = { host: '127.0.0.1', port, database: 'postgres' }
  const admin = new pg.Client({ ...server, user: 'postgres', password: adminPassword })
  await admin.connect()
  try {
    const roles = await admin.query(`select from pg_roles where rolname = 'coinslot'`)
    if (roles.rowCount === 0) await admin.query('create role coinslot')
    await admin.query(`alter role coinslot login nosuperuser password ${admin.escapeLiteral(password)}`)
    const databases = await admin.query(`select from pg_database where datname = 'coinslot'`)
    if (databases.rowCount === 0) await admin.query('create database coinslot owner coinslot')
  } finally {
    await admin.end()
  }
  writeCredentials(root, { ...credentials, secured: true })
}

/** Creates the data folder under another name and renames it, so that it is either complete or missing. */
async function create(root: string, folder: string, { binaries, account, credentials }: Cluster): Promise<void> {
  const draft = `${folder}.new`
  const passwordFile = `${folder}.password`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  writeFileSync(passwordFile, credentials.adminPassword, { mode: 0o600 })
  try {
    for (const target of [draft, passwordFile])
      chownSync(target, account.owner, account.spawn.gid ?? process.getgid?.() ?? 0)
    await run(account, binaries.initdb, [
      `--pgdata=${draft}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Sorts by code point in the server itself: the same on every machine and after every update of its libraries.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
    ])
  } finally {
    rmSync(passwordFile)
  }
  renameSync(draft, folder)
  syncFolder(root)
}

async function run(account: Account, command: string, args: readonly string[]): Promise<void> {
  const [program = '', ...rest] = [...account.prefix, command, ...args]
  const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe']
  const child = spawn(program, rest, { ...account.spawn, env: ENVIRONMENT, cwd: '/', stdio })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw fault(`${path.basename(command)} failed: ${output.trim()}.`)
}

function newCredentials(root: string, folder: string): Credentials {
  if (existsSync(folder)) {
    throw fault(`${credentialsFile(root)} is missing, and with it the password of the database in ${folder}.`)
  }
  const credentials = { adminPassword: secret(), password: secret(), secured: false }
  writeCredentials(root, credentials)
  return credentials
}

function writeCredentials(root: string, credentials: Credentials): void {
  const draft = `${credentialsFile(root)}.new`
  const file = openSync(draft, 'w', 0o600)
  writeFileSync(file, JSON.stringify(credentials))
  fsyncSync(file)
  closeSync(file)
  renameSync(draft, credentialsFile(root))
  syncFolder(root)
}

function checkVersion(folder: string): void {
  const found = readFileSync(path.join(folder, 'PG_VERSION'), 'utf8').trim()
  if (found !== MAJOR)
    throw fault(`${folder} was made by PostgreSQL ${found}, but this service uses PostgreSQL ${MAJOR}.`)
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

function credentialsFile(root: string): string {
  return path.join(root, 'postgres.json')
}

function secret(): string {
  return randomBytes(24).toString('base64url')
}
