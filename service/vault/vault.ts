import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { DomainError } from '../kit/errors.ts'
import type { Keyring } from './keyring.ts'
import { Secret } from './secret.ts'

/**
 * Secrets at rest. A token is `v1.<key id>.<nonce>.<ciphertext and tag>`. The context (owner and field, like
 * `rda_…/webhookHeaders`) is not in the token but bound to it, so a token that is copied to another row does not open.
 */
export interface Vault {
  seal(secret: Secret, context: string): string
  open(token: string, context: string): Secret
  /** Whether an older key sealed it. It should then be opened and sealed again. */
  needsRotation(token: string): boolean
}

/** The vault for those who keep texts. */
export function textVault(vault: Vault): TextVault {
  return {
    seal: (text, context) => vault.seal(new Secret(text), context),
    open: (token, context) => vault.open(token, context).reveal(),
  }
}

interface TextVault {
  seal(text: string, context: string): string
  open(token: string, context: string): string
}

export function vaultOf(keyring: Keyring): Vault {
  return {
    seal(secret, context) {
      const { id, key } = keyring.current
      const plain = toBytes(secret)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(bound(id, context))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
      return [VERSION, id, nonce.toString('base64url'), sealed.toString('base64url')].join('.')
    },

    open(token, context) {
      const { keyId, nonce, sealed } = parseToken(token)
      const known = keyring.byId.get(keyId)
      if (known === undefined) {
        throw new DomainError('failed', 'vault_key_missing', `A stored secret needs the vault key "${keyId}".`)
      }
      const decipher = createDecipheriv(CIPHER, known.key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(bound(keyId, context))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      try {
        const plain = Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
        return new Secret(plain.toString('utf8'))
      } catch (error) {
        throw unreadable(error)
      }
    },

    needsRotation: (token) => parseToken(token).keyId !== keyring.current.id,
  }
}

interface Token {
  readonly keyId: string
  readonly nonce: Buffer
  readonly sealed: Buffer
}

function parseToken(token: string): Token {
  const [version, keyId, nonceText, sealedText, ...rest] = token.split('.')
  if (version !== VERSION || keyId === undefined || rest.length > 0) throw unreadable()
  const nonce = canonical(nonceText)
  const sealed = canonical(sealedText)
  if (nonce?.length !== NONCE_BYTES || sealed === undefined || sealed.length < TAG_BYTES) throw unreadable()
  return { keyId, nonce, sealed }
}

/**
 * Node decodes many texts to the same bytes (padding, other alphabets, unused last bits). Only one of them is a valid
 * token.
 */
function canonical(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

function bound(keyId: string, context: string): Buffer {
  return Buffer.from(`${VERSION}.${keyId}.${context}`, 'utf8')
}

function toBytes(secret: Secret): Buffer {
  const text = secret.reveal()
  const bytes = Buffer.from(text, 'utf8')
  // Half a surrogate pair has no UTF-8 form, so it would come back as a different secret.
  if (bytes.toString('utf8') !== text) {
    throw new DomainError('invalid', 'secret_not_text', 'The secret is not well-formed text.')
  }
  return bytes
}

function unreadable(cause?: unknown): DomainError {
  return new DomainError('failed', 'vault_unreadable', 'A stored secret could not be opened.').causedBy(cause)
}

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
/** Random nonces of this length are safe for some 2^32 secrets under one key. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
