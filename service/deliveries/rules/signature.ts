import { createHmac } from 'node:crypto'
import { isSigningSecret, signingKey } from '../../kit/signing-secret.ts'

/**
 * Standard Webhooks: what the receiver checks is what was sent, byte for byte. With two secrets, while one
 * replaces the other, there are two signatures, and either will do.
 */
export function signatureOf(secrets: readonly string[], id: string, timestampSeconds: number, body: string): string {
  if (secrets.length === 0) throw new Error('a delivery is never sent unsigned')
  return secrets.map((secret) => `v1,${mac(secret, `${id}.${String(timestampSeconds)}.${body}`)}`).join(' ')
}

function mac(secret: string, signed: string): string {
  if (!isSigningSecret(secret)) throw new Error('not a signing secret')
  return createHmac('sha256', signingKey(secret)).update(signed).digest('base64')
}
