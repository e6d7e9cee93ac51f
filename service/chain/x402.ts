import { invalid } from '../kit/errors.ts'
import { NETWORKS, type NetworkName } from './networks.ts'

/** What a request carries to pay with. */
export interface Carried {
  version: 1 | 2
  /** In which header it came. */
  header: 'payment-signature' | 'x-payment'
  payload: Record<string, unknown>
}

/** The payment in a request's headers, of either version; null when there is none. What it says is not judged here. */
export function carriedIn(header: (name: string) => string | undefined): Carried | null {
  for (const [name, version] of HEADERS) {
    const text = header(name)
    if (text !== undefined) return { version, header: name, payload: payloadOf(name, text) }
  }
  return null
}

const HEADERS = [
  ['payment-signature', 2],
  ['x-payment', 1],
] as const

function payloadOf(header: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    // Node passes over what is not base64: whatever is left has to be JSON.
    value = JSON.parse(Buffer.from(text, 'base64').toString('utf8'))
  } catch {
    throw invalid({ [header]: 'must be base64 of JSON' }, 'invalid_payment')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid({ [header]: 'must be base64 of a JSON object' }, 'invalid_payment')
}

/** A value as one header carries it. */
export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** What has to be signed for so much to be paid, in the words of either version of x402. */
export function exactTerms({ network: name, recipient, amount }: Wanted) {
  const network = NETWORKS[name]
  const common = {
    scheme: 'exact',
    payTo: recipient,
    // As long as whoever sells and the chain take when both are slow, and not much longer: it can be used until then.
    maxTimeoutSeconds: 300,
    asset: network.usdc.checksummed,
    extra: { name: network.usdc.name, version: network.usdc.version },
  } as const
  return {
    v1: { ...common, network: network.name, maxAmountRequired: String(amount) },
    v2: { ...common, network: network.caip2, amount: String(amount) },
  }
}

interface Wanted {
  network: NetworkName
  recipient: `0x${string}`
  amount: bigint
}
