import { createHmac, timingSafeEqual } from 'node:crypto'

/** A delivery's headers (Standard Webhooks) and its raw bytes. */
export interface Signed {
  id: string | undefined
  timestamp: string | undefined
  signature: string | undefined
  body: Buffer
}

export type Verdict =
  { genuine: true; id: string } | { genuine: false; cause: 'unsigned' | 'stale' | 'mismatch'; reason: string }

/**
 * Whether one of these secrets signed the delivery. Several secrets are valid while one rotates, and the header may
 * carry several signatures. Without a secret no delivery is genuine.
 */
export function verify(signed: Signed, secrets: readonly string[], nowMs: number): Verdict {
  const { id, timestamp, signature, body } = signed
  if (!id || !timestamp || !signature) {
    const missing = Object.entries({
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    }).flatMap(([name, value]) => (value ? [] : [name]))
    return refused('unsigned', `This delivery is not signed: ${missing.join(', ')} missing.`)
  }
  if (!WHOLE_SECONDS.test(timestamp)) return refused('unsigned', 'webhook-timestamp must be whole seconds since 1970.')
  const ageSeconds = nowMs / 1000 - Number(timestamp)
  if (ageSeconds > TOLERANCE_SECONDS) return refused('stale', 'webhook-timestamp is more than five minutes old.')
  if (ageSeconds < -TOLERANCE_SECONDS) return refused('stale', 'webhook-timestamp is more than five minutes ahead.')
  const given = signature.split(' ').map((word) => Buffer.from(word))
  const expected = secrets.map((secret) => Buffer.from(sign(secret, id, timestamp, body)))
  // Every pair is compared, so that the time taken does not reveal which of them was close.
  const hits = expected.flatMap((one) => given.filter((other) => same(one, other)))
  return hits.length > 0 ? { genuine: true, id } : refused('mismatch', 'webhook-signature does not match.')
}

/** Signs as the service does: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. */
function sign(secret: string, id: string, timestamp: string, body: Buffer): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

/** A `whsec_` secret contains the key in base64; any other secret is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
}

function same(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

function refused(cause: 'unsigned' | 'stale' | 'mismatch', reason: string): Verdict {
  return { genuine: false, cause, reason }
}

const WHOLE_SECONDS = /^\d{1,12}$/
const TOLERANCE_SECONDS = 300
