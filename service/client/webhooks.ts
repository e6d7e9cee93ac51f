import { SignatureError } from './errors.ts'

/** An event as your server receives it. */
export interface WebhookEvent {
  event: string
  data: Readonly<Record<string, unknown>>
}

/** The request's headers, as `Headers` or as Node's object. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How old a request may be, in seconds; 300 when absent. Older ones may be recordings. */
  toleranceSeconds?: number | undefined
  /** For tests. */
  now?: Date | undefined
}

/**
 * The event in the body, if the endpoint's secret signed exactly these bytes; throws a `SignatureError` otherwise. Pass
 * the body as it came: parsing and writing it again changes its bytes. The same `webhook-id` may come more than once.
 */
export async function verify(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = SIGNED_BY.map((name) => headerOf(headers, name))
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new SignatureError('signature_missing', `The request lacks one of the headers ${SIGNED_BY.join(', ')}.`)
  }
  const age = now.getTime() / 1000 - Number(timestamp)
  // Also refuses a timestamp that is no number.
  if (!/^\d{1,12}$/.test(timestamp) || !(Math.abs(age) <= toleranceSeconds)) {
    throw new SignatureError('timestamp_outside_tolerance', 'The request is too old or too new. Check this clock.')
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const key = await crypto.subtle.importKey('raw', keyOf(secret), ALGORITHM, false, ['verify'])
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  // While a secret is rotated there are two signatures.
  for (const each of signatures.split(' ').slice(0, SIGNATURES_MAX)) {
    const signature = each.startsWith('v1,') ? fromBase64(each.slice(3)) : null
    // WebCrypto compares in constant time.
    if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed))) {
      return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
    }
  }
  throw new SignatureError(
    'signature_invalid',
    "The signature does not match. Use this endpoint's secret, and the body as it came.",
  )
}

const SIGNED_BY = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }
const SIGNATURES_MAX = 10

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = headers[name] ?? Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

/** `whsec_` and base64 are the key's bytes; any other text is itself the key. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith('whsec_') ? fromBase64(secret.slice(6)) : new TextEncoder().encode(secret)
  // An empty key would sign anything that anyone sends.
  if (key === null || key.length < 24) {
    throw new TypeError('The webhook secret is missing or not complete. Copy it from the webhook endpoint.')
  }
  return key
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
