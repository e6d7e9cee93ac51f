import { invalid } from '../kit/errors.ts'
import { faultOfJsonShape } from '../kit/json-shape.ts'
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
  // Node passes over what is not base64: whatever is left has to be JSON.
  const json = Buffer.from(text, 'base64').toString('utf8')
  const fault = faultOfJsonShape(json)
  if (fault !== null) throw invalid({ [header]: fault }, 'invalid_payment')
  let value: unknown
  try {
    value = JSON.parse(json)
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
    // As long as the work and the chain take when both are slow, and not much longer: it can be used until then.
    maxTimeoutSeconds: TIMEOUT_SECONDS,
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

/** How long an authorization must stay valid so that it can be settled once the work is done. */
function coverSeconds(workMs: number): number {
  return Math.ceil(workMs / 1_000) + SETTLING_SECONDS
}

/** Whether what is delivered before it is paid can still be paid for afterwards. */
export function outlasts({ validBefore }: { validBefore: bigint }, workMs: number, now: Date): boolean {
  return validBefore >= BigInt(Math.floor(now.getTime() / 1_000) + coverSeconds(workMs))
}

/** For people, with the least that would do. */
export function tooShort(workMs: number): string {
  return `The authorization expires too soon: validBefore must be at least ${String(coverSeconds(workMs))} seconds from now, so that it is still valid when the work is done. Sign one that lasts maxTimeoutSeconds.`
}

/**
 * More than the longest work (120 seconds by the configuration's limits, and 30 for reading the answer), the settlement
 * and a person who has to confirm the signature.
 */
const TIMEOUT_SECONDS = 300
const SETTLING_SECONDS = 30
