import type { Clock } from '../kit/clock.ts'
import { isRecord } from '../kit/schema/merge.ts'
import type { EscrowRequirements, RequirementsV2, UptoRequirements } from './model.ts'
import { TIMEOUT_SECONDS } from './requirements.ts'

/**
 * The extension `offer-receipt`: the terms of a 402 and the receipt of a payment, signed by the seller's service, so
 * that a buyer can prove both to anybody. A signature is made either of typed data (EIP-712), or of JSON (a JWS).
 */
const EXTENSION = 'offer-receipt'

/** The header with the signed receipt, where the payment's result has no place for it: for version 1 and for MPP. */
export const RECEIPT_HEADER = 'X-Payment-Signed-Receipt'

/** What an offer promises. Amounts are micro-USDC, times are seconds. */
export interface OfferPayload {
  version: 1
  resourceUrl: string
  scheme: string
  /** By CAIP-2. */
  network: string
  asset: string
  payTo: string
  amount: string
  validUntil: number
}

/** The terms of one payment. They name its receipt, so that nobody can show another offer of the address beside it. */
export interface PaidTerms extends OfferPayload {
  /** SHA-256 of the receipt's JWS, in base64url. */
  receiptHash: string
}

/** What a receipt confirms. */
export interface ReceiptPayload {
  version: 1
  network: string
  resourceUrl: string
  payer: string
  issuedAt: number
  transaction: string
}

/** The signature contains the payload. */
export interface JsonSigned {
  format: 'jws'
  signature: string
}

export interface TypedSigned<Payload> {
  format: 'eip712'
  payload: Payload
  signature: string
}

export type SignedOffer = (JsonSigned | TypedSigned<OfferPayload>) & { acceptIndex: number }

/** The keys that sign, and the name under which each is published. */
export interface SigningKeys {
  /** The DID of the service that answers at this address. */
  issuerOf(resourceUrl: string): string
  /** Deterministic, so that one sale always has the same receipt. */
  jws: { name: string; algorithm: 'EdDSA'; sign(data: Uint8Array): Buffer }
  /** 65 bytes, for a hash of 32. */
  eip712: { name: string; sign(hash: Uint8Array): `0x${string}` }
  keccak(data: Uint8Array): Uint8Array
}

export interface OfferSigner {
  /** Empty when the address is too long to be repeated in a header. */
  offers(terms: RequirementsV2 | UptoRequirements | EscrowRequirements, resourceUrl: string): readonly SignedOffer[]
  jws(content: ReceiptPayload | PaidTerms): JsonSigned
  eip712(receipt: ReceiptPayload): TypedSigned<ReceiptPayload>
}

/** Signs with these keys. Offers are cached by their terms, so a repeated 402 signs nothing. */
export function createOfferSigner(keys: SigningKeys, clock: Clock): OfferSigner {
  const cached = new Map<string, readonly SignedOffer[]>()
  const offerHash = hashing(OFFER, keys)
  const receiptHash = hashing(RECEIPT, keys)

  function jws(payload: object, resourceUrl: string): string {
    const { name, algorithm, sign } = keys.jws
    const header = { alg: algorithm, kid: `${keys.issuerOf(resourceUrl)}#${name}` }
    const content = `${encoded(JSON.stringify(header))}.${encoded(canonical(payload))}`
    return `${content}.${sign(Buffer.from(content)).toString('base64url')}`
  }

  function sign(payload: OfferPayload): readonly SignedOffer[] {
    const { resourceUrl } = payload
    const json = { format: 'jws', acceptIndex: 0, signature: jws(payload, resourceUrl) } as const
    if (resourceUrl.length > TYPED_URL_MAX) return [json]
    const signature = keys.eip712.sign(offerHash(payload))
    return [{ format: 'eip712', acceptIndex: 0, payload, signature }, json]
  }

  return {
    offers({ scheme, network, asset, payTo, amount }, resourceUrl) {
      if (resourceUrl.length > URL_MAX) return []
      // Rounded up, so that the offers of one minute are the same.
      const validUntil = Math.ceil((clock.now().getTime() / 1_000 + TIMEOUT_SECONDS) / STEP_SECONDS) * STEP_SECONDS
      const key = [validUntil, scheme, network, asset, payTo, amount, resourceUrl].join(' ')
      const known = cached.get(key)
      if (known !== undefined) return known
      const signed = sign({ version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil })
      // The oldest entry is the first to expire.
      const oldest = cached.size < CACHED_MAX ? undefined : cached.keys().next().value
      if (oldest !== undefined) cached.delete(oldest)
      cached.set(key, signed)
      return signed
    },
    jws: (content) => ({ format: 'jws', signature: jws(content, content.resourceUrl) }),
    eip712: (receipt) => ({ format: 'eip712', payload: receipt, signature: keys.eip712.sign(receiptHash(receipt)) }),
  }
}

/** The extension in a 402. Empty when nothing could be signed. */
export function offersExtension(offers: readonly SignedOffer[]) {
  return offers.length === 0 ? {} : { [EXTENSION]: { info: { offers }, schema: OFFERS_SCHEMA } }
}

/** The extension in a payment's result. */
export function receiptExtension(receipt: JsonSigned) {
  return { [EXTENSION]: { info: { receipt }, schema: RECEIPT_SCHEMA } }
}

/**
 * The payload without our offers, which clients return. They are made anew for each 402, so a returned one proves
 * nothing, and it is longer than the payment itself.
 */
export function withoutOffers(payload: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { extensions, ...rest } = payload
  if (!isRecord(extensions) || !Object.hasOwn(extensions, EXTENSION)) return payload
  const others = Object.entries(extensions).filter(([name]) => name !== EXTENSION)
  return others.length === 0 ? rest : { ...rest, extensions: Object.fromEntries(others) }
}

/** The page that verifies a receipt. The text stands behind #, which a browser does not send. */
export function verifyUrl(receipts: string, receipt: JsonSigned, terms: JsonSigned | null): string {
  return `${receipts}/verify#${[receipt, ...(terms === null ? [] : [terms])].map(({ signature }) => signature).join('~')}`
}

const STEP_SECONDS = 60
const CACHED_MAX = 2_000
/**
 * Clients accept 16 KB of headers in all, and a 402 repeats the address in each signed offer. A longer address gets one
 * offer, and a very long one none.
 */
const TYPED_URL_MAX = 1_024
const URL_MAX = 2_048

/** Short, because each 402 has it in a header. */
const SIGNED = { type: 'object', required: ['format', 'signature'] }
const OFFERS_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { offers: { type: 'array', items: SIGNED } },
  required: ['offers'],
}
const RECEIPT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { receipt: SIGNED },
  required: ['receipt'],
}

/** JSON in the one form that RFC 8785 allows. The payloads are flat and hold texts and whole numbers only. */
function canonical(payload: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(payload).sort(([one], [other]) => (one < other ? -1 : 1))))
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

interface TypedData {
  domain: string
  type: string
  fields: readonly (readonly [name: string, type: 'string' | 'uint256'])[]
}

const OFFER: TypedData = {
  domain: 'x402 offer',
  type: 'Offer',
  fields: [
    ['version', 'uint256'],
    ['resourceUrl', 'string'],
    ['scheme', 'string'],
    ['network', 'string'],
    ['asset', 'string'],
    ['payTo', 'string'],
    ['amount', 'string'],
    ['validUntil', 'uint256'],
  ],
}

const RECEIPT: TypedData = {
  domain: 'x402 receipt',
  type: 'Receipt',
  fields: [
    ['version', 'uint256'],
    ['network', 'string'],
    ['resourceUrl', 'string'],
    ['payer', 'string'],
    ['issuedAt', 'uint256'],
    ['transaction', 'string'],
  ],
}

/** The hash that is signed (EIP-712). The domain names chain 1 for payments on every chain. */
function hashing({ domain, type, fields }: TypedData, { keccak }: Pick<SigningKeys, 'keccak'>) {
  const hashed = (text: string): Uint8Array => keccak(Buffer.from(text))
  const separator = keccak(Buffer.concat([hashed(DOMAIN_TYPE), hashed(domain), hashed('1'), word(1)]))
  const typeHash = hashed(`${type}(${fields.map(([name, kind]) => `${kind} ${name}`).join(',')})`)
  return (payload: OfferPayload | ReceiptPayload): Uint8Array => {
    const values: Readonly<Record<string, unknown>> = { ...payload }
    const words = fields.map(([name, kind]) =>
      kind === 'string' ? hashed(String(values[name])) : word(Number(values[name])),
    )
    return keccak(Buffer.concat([Buffer.of(0x19, 0x01), separator, keccak(Buffer.concat([typeHash, ...words]))]))
  }
}

const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId)'

function word(value: number): Buffer {
  const bytes = Buffer.alloc(32)
  bytes.writeBigUInt64BE(BigInt(value), 24)
  return bytes
}
