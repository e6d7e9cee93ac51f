/**
 * A secret that signs outgoing messages, in one of two forms: that of Standard Webhooks, `whsec_` and base64, whose
 * bytes are the key, or any plain text, which is itself the key, as other providers use it.
 */
export function toSigningSecret(random: Buffer): string {
  return PREFIX + random.toString('base64')
}

/**
 * Whether an owner may choose this secret. A text that begins like the first form must have that form, because
 * otherwise it is probably mistyped.
 */
export function isSigningSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return PLAIN.test(text)
  const encoded = text.slice(PREFIX.length)
  const bytes = Buffer.from(encoded, 'base64')
  // Node decodes many texts to the same bytes. Receivers are stricter.
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
