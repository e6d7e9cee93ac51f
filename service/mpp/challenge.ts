import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { keccak256 } from '../kit/keccak.ts'

/** A challenge of the Machine Payments Protocol, as it is written in a 402. Absent parameters are null. */
export interface Challenge {
  id: string
  realm: string
  method: string
  intent: string
  /** base64url of the canonical JSON of the terms. */
  request: string
  /** RFC 3339. */
  expires: string | null
  digest: string | null
  /** The header in which the credential is expected. Null for `Authorization`. */
  header: string | null
  /** base64url of JSON; the client returns it unchanged. */
  opaque: string | null
}

/** The terms of an `evm/charge`. Amounts are micro-USDC. */
export interface ChargeTerms {
  amount: bigint
  /** The token's contract. */
  currency: string
  recipient: string
  chainId: number
  description: string
  /** The address that is paid for. */
  resource: string
}

export const METHOD = 'evm'
export const INTENT = 'charge'
/** For requests whose `Authorization` belongs to the API behind the gate. */
export const OTHER_HEADER = 'Payment-Authorization'

/**
 * A challenge for these terms. Its id is a MAC over everything in it, so a credential proves what it answers and until
 * when, and no challenge is stored.
 */
export function issueChallenge(terms: ChargeTerms, key: Buffer, { expires, header }: Issue): Challenge {
  const { amount, currency, recipient, chainId, description, resource } = terms
  const challenge = {
    realm: realmOf(resource),
    method: METHOD,
    intent: INTENT,
    // The keys are in the order of canonical JSON.
    request: encoded({
      amount: String(amount),
      currency,
      description,
      methodDetails: { chainId, credentialTypes: ['authorization'], decimals: 6 },
      recipient,
    }),
    expires: expires.toISOString().replace(/\.\d+Z$/, 'Z'),
    digest: null,
    header,
    // An authorization's nonce follows from the id, so a payer who buys twice in one second needs two ids.
    opaque: encoded({ nonce: randomBytes(9).toString('base64url'), resource }),
  }
  return { id: idOf(challenge, key), ...challenge }
}

interface Issue {
  expires: Date
  header: string | null
}

/** The value of `WWW-Authenticate`. */
export function toAuthenticate({ id, realm, method, intent, request, expires, header, opaque }: Challenge): string {
  const parameters = { id, realm, method, intent, request, expires, header, opaque }
  const written = Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [`${name}="${value}"`]))
  return `Payment ${written.join(', ')}`
}

/** Whether this service issued the challenge, for this resource. */
export function isOwnChallenge(challenge: Challenge, resource: string, key: Buffer): boolean {
  const expected = Buffer.from(idOf(challenge, key))
  const id = Buffer.from(challenge.id)
  return (
    id.length === expected.length &&
    timingSafeEqual(id, expected) &&
    challenge.method === METHOD &&
    challenge.intent === INTENT &&
    resourceIn(challenge.opaque) === resource
  )
}

/** Only for what this service has written: the id proves it. */
function resourceIn(opaque: string | null): unknown {
  return (JSON.parse(Buffer.from(opaque ?? '', 'base64url').toString()) as { resource?: unknown }).resource
}

/** The nonce that an authorization must have to answer this challenge. */
export function nonceOf({ id, realm }: Pick<Challenge, 'id' | 'realm'>): `0x${string}` {
  return `0x${Buffer.from(keccak256(Buffer.from(id + realm))).toString('hex')}`
}

/** The order and the separators are those of the protocol. */
function idOf({ realm, method, intent, request, expires, digest, header, opaque }: Omit<Challenge, 'id'>, key: Buffer) {
  const slots = [realm, method, intent, request, expires ?? '', digest ?? '']
  if (header !== null) slots.push(header)
  slots.push(opaque ?? '')
  return createHmac('sha256', key).update(slots.join('|')).digest('base64url')
}

function realmOf(resource: string): string {
  return URL.canParse(resource) ? new URL(resource).host : 'localhost'
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
