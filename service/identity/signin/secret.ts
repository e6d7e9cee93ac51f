import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DomainError } from '../../kit/errors.ts'

/**
 * The sandbox's AUTH_SECRET, made once as `<dataDir>/auth.secret`. However many processes start at once, all
 * get the same one: it is written whole under another name, and only one link to this name succeeds.
 */
export async function loadOrMakeSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'auth.secret')
  const existing = await load(file)
  if (existing !== null) return existing
  await mkdir(dataDir, { recursive: true })
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  try {
    await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    await link(draft, file).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  const made = await load(file)
  if (made === null) throw fault(`${file} was removed while it was being made.`)
  return made
}

async function load(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  })
  if (text === null) return null
  // Windows keeps no such bits.
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    throw fault(`${file} can be read by other users of this machine. Close it with: chmod 600 '${file}'`)
  }
  const secret = text.trim()
  if (secret.length < 32)
    throw fault(`${file} does not hold a secret. Remove it to get a new one; people sign in anew.`)
  return secret
}

function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown }).code === code
}

function fault(sentence: string): DomainError {
  return new DomainError('failed', 'auth_secret_file', sentence)
}
