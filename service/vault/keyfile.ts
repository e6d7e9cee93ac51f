import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../kit/errors.ts'
import { parseKeyring } from './keyring.ts'

/**
 * The sandbox's own key, in the form that `parseKeyring` reads: made once as `<dataDir>/vault.key`. However
 * many processes start at once, all get the same key, since only one link to the name succeeds.
 */
export async function loadOrMakeKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'vault.key')
  const existing = await load(path)
  if (existing !== undefined) return existing
  await mkdir(dataDir, { recursive: true })
  await make(dataDir, path)
  const made = await load(path)
  if (made === undefined) throw fileFault(`${path} was removed while it was being made.`)
  return made
}

async function load(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw fileFault(`${path} could not be read.`, error)
  })
  if (file === undefined) return undefined
  try {
    await refuseShared(file, path)
    const text = (await file.readFile('utf8')).trim()
    checkKey(text, path)
    return text
  } finally {
    await file.close()
  }
}

/** Asked of the open file, so that it is the one which is read. Windows keeps no such bits. */
async function refuseShared(file: FileHandle, path: string): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await file.stat()
  if ((mode & 0o077) !== 0) {
    throw fileFault(`${path} can be read by other users of this machine. Close it with: chmod 600 '${path}'`)
  }
}

function checkKey(text: string, path: string): void {
  try {
    parseKeyring(text)
  } catch (error) {
    throw fileFault(`${path} does not hold a vault key: an id, a colon and the base64 of 32 random bytes.`, error)
  }
}

/** Written whole under another name and then linked: no process ever reads half a key. */
async function make(dataDir: string, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  // A new id each time: a token of a lost key then says that its key is missing, not that it is damaged.
  const text = `sandbox-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`
  try {
    await writeDurably(draft, text)
    await link(draft, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
    await syncDirectory(dataDir)
  } finally {
    await rm(draft, { force: true })
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Secrets will be sealed with this key: its name must survive a power cut that they survive. */
async function syncDirectory(dataDir: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(dataDir, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}

function fileFault(sentence: string, cause?: unknown): DomainError {
  return new DomainError('failed', 'vault_key_file', sentence, {}, cause)
}
