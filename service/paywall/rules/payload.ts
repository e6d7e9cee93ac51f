import type { Address, Hex, SignedAuthorization } from '../../chain/model.ts'
import { networkOf, type Network } from '../../chain/networks.ts'
import { carriedIn } from '../../chain/x402.ts'
import { badPayment } from '../errors.ts'

/** What a request pays with, read as far as a gate needs it; the facilitator judges the rest. */
export interface Presented {
  version: 1 | 2
  /** In which header it came. */
  header: string
  payload: unknown
  network: Network | null
  authorization: SignedAuthorization
}

/** The payment in a request's headers; null when there is none. Throws with the reason when it is none. */
export function presentedIn(header: (name: string) => string | undefined): Presented | null {
  const carried = carriedIn(header)
  return carried === null ? null : readPayload(carried.header, carried.version, carried.payload)
}

export function readPayload(header: string, expected: 1 | 2, payload: Record<string, unknown>): Presented {
  const version = payload['x402Version'] ?? expected
  if (version !== 1 && version !== 2) throw badPayment(header, 'must have an x402Version of 1 or 2')
  const way = version === 1 ? payload : payload['accepted']
  if (!isRecord(way)) throw badPayment(header, 'must have `accepted`: what is paid for, as it was asked')
  const name = way['network']
  if (typeof name !== 'string' || name === '') throw badPayment(header, 'must name a network')
  const inner = payload['payload']
  if (!isRecord(inner) || !isRecord(inner['authorization'])) {
    throw badPayment(header, 'must have a payload with an authorization (EIP-3009)')
  }
  return { version, header, payload, network: networkOf(name), authorization: authorizationIn(header, inner) }
}

function authorizationIn(header: string, inner: Record<string, unknown>): SignedAuthorization {
  const said = inner['authorization'] as Record<string, unknown>
  const field = (name: string, of: Record<string, unknown>, pattern: RegExp, what: string): string => {
    const value = of[name]
    if (typeof value !== 'string' || !pattern.test(value)) throw badPayment(header, `${name} must be ${what}`)
    return value
  }
  const address = (name: string): Address =>
    field(name, said, /^0x[0-9a-fA-F]{40}$/, '0x and 40 hexadecimal digits').toLowerCase() as Address
  const whole = (name: string): bigint => {
    const value = BigInt(field(name, said, /^(0|[1-9]\d{0,77})$/, 'a whole number as decimal text'))
    if (value >= 2n ** 256n) throw badPayment(header, `${name} must be below 2^256`)
    return value
  }
  return {
    from: address('from'),
    to: address('to'),
    value: whole('value'),
    validAfter: whole('validAfter'),
    validBefore: whole('validBefore'),
    nonce: field('nonce', said, /^0x[0-9a-fA-F]{64}$/, '0x and 64 hexadecimal digits').toLowerCase() as Hex,
    signature: field(
      'signature',
      inner,
      /^0x([0-9a-fA-F]{2})+$/,
      '0x and pairs of hexadecimal digits',
    ).toLowerCase() as Hex,
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
