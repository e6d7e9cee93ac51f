import { createHmac, timingSafeEqual } from 'node:crypto'

/** The verified content of a gateway's `Coinslot-Payment` header. */
export interface VerifiedIdentity {
  paywall: string
  call: string
  payment: string | null
  payer: string | null
  amount: string | null
  pricing: string
  state: string
  endpoint: string
  /** Unix seconds. */
  at: number
}

/**
 * For the upstream of a gateway. Returns null unless the header was signed with this secret, for this request, within
 * the last minutes. Throws where the secret is none.
 */
export function verifyIdentity(
  header: string | undefined,
  secret: string,
  asked: { method: string; path: string; now?: Date },
): VerifiedIdentity | null {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // Anyone could sign with an empty one.
  if (key.length < KEY_BYTES_MIN)
    throw new Error("verifyIdentity: secret must be the paywall's signing secret, whsec_…")
  const [version, text, signature, ...more] = header?.split('.') ?? []
  if (version !== 'v1' || text === undefined || signature === undefined || more.length > 0) return null
  const expected = createHmac('sha256', key).update(`v1.${text}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  const identity = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as VerifiedIdentity
  const age = (asked.now ?? new Date()).getTime() / 1000 - identity.at
  const fresh = Math.abs(age) <= TOLERANCE_SECONDS
  return fresh && identity.endpoint === `${asked.method} ${asked.path}`.slice(0, 500) ? identity : null
}

/** As many as the gateway's secrets have at least. */
const KEY_BYTES_MIN = 24
const TOLERANCE_SECONDS = 300
