import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { ErrorCode } from './error-codes/catalogue.ts'
import { DomainError } from './errors.ts'

/**
 * A secret of the sandbox, created once under the data folder. All processes get the same one, even if they start at
 * once: it is written whole under another name, and only one link to the final name succeeds.
 */
export async function loadOrMakeSecretFile(dataDir: string, kind: SecretFile): Promise<string> {
  const path = join(dataDir, kind.name)
  const existing = await load(path, kind)
  if (existing !== undefined) return existing
  await mkdir(dataDir, { recursive: true })
  await make(dataDir, path, kind)
  const made = await load(path, kind)
  if (made === undefined) throw fault(kind, `${path} was removed while it was being made.`)
  return made
}

export interface SecretFile {
  name: string
  /** The code of every error about it. */
  code: ErrorCode
  generate(): string
  /** Null when the text is a secret of this kind; else what is wrong, as the rest of "<path> …". */
  fault(text: string): string | null
}

async function load(path: string, kind: SecretFile): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw fault(kind, `${path} could not be read.`, error)
  })
  if (file === undefined) return undefined
  try {
    await refuseShared(file, path, kind)
    const text = (await file.readFile('utf8')).trim()
    const wrong = kind.fault(text)
    if (wrong !== null) throw fault(kind, `${path} ${wrong}`)
    return text
  } finally {
    await file.close()
  }
}

/** Checks the open file, so that it is the file that is read. Windows has no such permission bits. */
async function refuseShared(file: FileHandle, path: string, kind: SecretFile): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await file.stat()
  if ((mode & 0o077) !== 0) {
    throw fault(kind, `${path} can be read by other users of this machine. Close it with: chmod 600 '${path}'`)
  }
}

async function make(dataDir: string, path: string, kind: SecretFile): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await writeDurably(draft, `${kind.generate()}\n`)
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

/** A power cut must not lose the secret's name while data that was sealed with it survives. */
async function syncDirectory(dataDir: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(dataDir, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}

function fault(kind: SecretFile, sentence: string, cause?: unknown): DomainError {
  return new DomainError('failed', kind.code, sentence).causedBy(cause)
}
