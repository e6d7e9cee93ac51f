import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { DomainError } from '../kit/errors.ts'
import { loadOrMakeSecretFile } from '../kit/secret-file.ts'

/** A KeyObject and not bytes, because it cannot be printed or serialised. */
export interface VaultKey {
  readonly id: string
  readonly key: KeyObject
}

export interface Keyring {
  /** Seals new tokens. */
  readonly current: VaultKey
  /** Open tokens: the current key and the old ones. */
  readonly byId: ReadonlyMap<string, VaultKey>
}

/** `current` is `id:base64 of 32 bytes`, `old` a comma-separated list of the same or nothing. */
export function parseKeyring(current: string, old = ''): Keyring {
  const first = parseKey(current, 'The vault key')
  const others = old
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text, index) => parseKey(text, `Old vault key ${String(index + 1)}`))
  const byId = new Map<string, VaultKey>()
  for (const key of [first, ...others]) {
    // With two keys of one id, chance would decide which one opens a token.
    if (byId.has(key.id)) throw keyFault(`The vault key id "${key.id}" is given twice.`)
    byId.set(key.id, key)
  }
  return { current: first, byId }
}

/** Error messages never contain the given text, because it may be a key with a typing mistake. */
function parseKey(text: string, name: string): VaultKey {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(text.trim()) ?? []
  if (id === undefined || encoded === undefined) {
    throw keyFault(`${name} must be an id, a colon and the base64 of 32 random bytes.`)
  }
  const bytes = Buffer.from(encoded, 'base64')
  if (new Set(bytes).size < 8) throw keyFault(`${name} is not random. Make one with: openssl rand -base64 32`)
  return { id, key: createSecretKey(bytes) }
}

function keyFault(sentence: string): DomainError {
  return new DomainError('invalid', 'vault_key_invalid', sentence)
}

/** The sandbox's own key, `<dataDir>/vault.key`, in the format that `parseKeyring` reads. */
export function loadOrMakeKey(dataDir: string): Promise<string> {
  return loadOrMakeSecretFile(dataDir, {
    name: 'vault.key',
    code: 'vault_key_file',
    // With a new id each time, a token of a lost key reports that its key is missing, and not that it is damaged.
    generate: () => `sandbox-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`,
    fault(text) {
      try {
        parseKeyring(text)
        return null
      } catch {
        return 'does not hold a vault key: an id, a colon and the base64 of 32 random bytes.'
      }
    },
  })
}
