/**
 * A secret that signs what is sent, in one of two forms: Standard Webhooks', `whsec_` and base64, whose bytes are the key,
 * or any plain text, which is the key itself, as other providers have it.
 */
export function toSigningSecret(random: Buffer): string {
  return PREFIX + random.toString('base64')
}

/** Whether an owner may choose it. What begins like the first form must be of that form: it may be mistyped. */
export function isSigningSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return PLAIN.test(text)
  const encoded = text.slice(PREFIX.length)
  const bytes = Buffer.from(encoded, 'base64')
  // Node reads many texts as the same bytes; receivers are less forgiving.
  return bytes.toString('base64') === encoded && bytes.length >= 24 && bytes.length <= 64
}

/** For the field that it stands in. */
export const SIGNING_SECRET_FAULT =
  'must be whsec_ and the base64 of 24 to 64 bytes, or 24 to 75 printable ASCII characters with no space at either end'

/** The bytes that sign. */
export function signingKey(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8')
}

const PREFIX = 'whsec_'
const PLAIN = /^[!-~][ -~]{22,73}[!-~]$/
