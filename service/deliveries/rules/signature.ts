import { createHmac } from 'node:crypto'

/**
 * Standard Webhooks: what the receiver checks is what was sent, byte for byte. With two secrets, while one
 * replaces the other, there are two signatures, and either will do.
 */
export function signatureOf(secrets: readonly string[], id: string, timestampSeconds: number, body: string): string {
  if (secrets.length === 0) throw new Error('a delivery is never sent unsigned')
  return secrets.map((secret) => `v1,${mac(secret, `${id}.${String(timestampSeconds)}.${body}`)}`).join(' ')
}

/** `whsec_` and 24 to 64 bytes in base64, as the standard has it; what is no such text signs nothing. */
export function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1]
  if (encoded === undefined) return false
  const bytes = Buffer.from(encoded, 'base64')
  // Node reads many texts as the same bytes; receivers are less forgiving.
  return bytes.toString('base64') === encoded && bytes.length >= 24 && bytes.length <= 64
}

export function toSecret(random: Buffer): string {
  return `whsec_${random.toString('base64')}`
}

function mac(secret: string, signed: string): string {
  if (!isSecret(secret)) throw new Error('not a signing secret')
  return createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(signed)
    .digest('base64')
}
