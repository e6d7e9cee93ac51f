import { networkName } from '../../../ui-kit/networks.ts'
import { language, say } from '../words/say.ts'

/** The result of a check. `unknown`: it could not be made, so the receipt may still be valid. */
export type Verdict =
  { kind: 'valid'; facts: ReceiptFacts } | { kind: 'invalid'; reason: string } | { kind: 'unknown'; reason: string }

export interface ReceiptFacts {
  issuer: string
  resource: string
  payer: string
  network: string
  paidAt: Date
  transaction: string
  /** Null when the network has no known explorer. */
  explorerUrl: string | null
  /** From the signed terms beside the receipt. Null when there are none that belong to it. */
  terms: { amount: string; recipient: string } | null
}

export interface Verifier {
  /** The addresses of the DID documents of this service, by DID. */
  issuers: Readonly<Record<string, string>>
  /** Throws when the document cannot be loaded. */
  load(address: string): Promise<unknown>
}

/**
 * Checks a signed receipt (the x402 extension offer-receipt, as a JWS) by the keys that its issuer publishes. The text
 * may be the receipt alone, or any JSON that contains it.
 */
export async function verifyReceipt(text: string, verifier: Verifier): Promise<Verdict> {
  const found = readTokens(text)
  const receipt = found.find(({ payload }) => 'payer' in payload)
  if (receipt === undefined) return invalid(sentenceWithout(text, found))
  const { version, resourceUrl, payer, network, issuedAt, transaction = '' } = receipt.payload
  if (version !== 1) return invalid(say('verify.version'))
  if (
    !isText(resourceUrl) ||
    !isText(payer) ||
    !isText(network) ||
    !isText(transaction) ||
    !Number.isInteger(issuedAt)
  ) {
    return invalid(say('verify.incomplete'))
  }
  const checked = await check(receipt, verifier)
  if (checked !== null) return checked
  const chain = /^eip155:(\d{1,15})$/.exec(network)?.[1]
  const explorer = EXPLORERS[network]
  return {
    kind: 'valid',
    facts: {
      issuer: hostOf(nameOf(receipt).did),
      resource: resourceUrl,
      payer,
      network: chain === undefined ? network : networkName(Number(chain)),
      paidAt: new Date(Number(issuedAt) * 1_000),
      transaction,
      explorerUrl: explorer === undefined || !HASH.test(transaction) ? null : explorer + transaction,
      terms: await termsOf(found, receipt, verifier),
    },
  }
}

const HASH = /^0x[0-9a-f]{64}$/i
const EXPLORERS: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://basescan.org/tx/',
  'eip155:84532': 'https://sepolia.basescan.org/tx/',
}

interface Token {
  jws: string
  header: Readonly<Record<string, unknown>>
  payload: Readonly<Record<string, unknown>>
  content: string
  signature: Uint8Array<ArrayBuffer>
}

interface PublicKey {
  kty: string
  crv: string
  x: string
}

/** Every JWS in the text that can be decoded. */
function readTokens(text: string): readonly Token[] {
  const written = text.slice(0, TEXT_MAX).match(/eyJ[\w-]{1,2000}\.eyJ[\w-]{1,8000}\.[\w-]{1,200}/g) ?? []
  return written.flatMap((jws): Token[] => {
    const [head = '', body = '', tail = ''] = jws.split('.')
    const header = jsonIn(head)
    const payload = jsonIn(body)
    if (header === null || payload === null) return []
    return [{ jws, header, payload, content: `${head}.${body}`, signature: bytesOf(tail) }]
  })
}

const TEXT_MAX = 20_000

function sentenceWithout(text: string, found: readonly Token[]): string {
  if (found.some(({ payload }) => 'payTo' in payload)) {
    return say('verify.offer')
  }
  if (text.includes('eip712')) {
    return say('verify.typedData')
  }
  return say('verify.noReceipt')
}

/** Null when the signature is the issuer's. */
async function check(token: Token, { issuers, load }: Verifier): Promise<Verdict | null> {
  const { did, kid } = nameOf(token)
  const address = Object.hasOwn(issuers, did) ? issuers[did] : undefined
  if (address === undefined) {
    const known = Object.keys(issuers).map(hostOf).join(', ')
    return invalid(say('verify.otherIssuer', { issuer: hostOf(did), known }))
  }
  if (token.header['alg'] !== 'EdDSA') return invalid(say('verify.algorithm'))
  let document: unknown
  try {
    document = await load(address)
  } catch {
    return unknown(say('verify.noKeys', { issuer: hostOf(did) }))
  }
  const key = keyIn(document, kid)
  if (key === null) return invalid(say('verify.otherKey', { issuer: hostOf(did) }))
  const publicKey = await imported(key)
  if (publicKey === null) {
    return unknown(say('verify.oldBrowser'))
  }
  const isSigned = await crypto.subtle.verify(
    'Ed25519',
    publicKey,
    token.signature,
    new TextEncoder().encode(token.content),
  )
  return isSigned ? null : invalid(say('verify.changed'))
}

/** Null when this browser does not know the algorithm. */
async function imported(key: PublicKey) {
  try {
    return await crypto.subtle.importKey('jwk', key, { name: 'Ed25519' }, false, ['verify'])
  } catch {
    return null
  }
}

/** The terms that name this receipt, signed by the same issuer. Any other offer of the address says nothing about it. */
async function termsOf(found: readonly Token[], receipt: Token, verifier: Verifier): Promise<ReceiptFacts['terms']> {
  const receiptHash = await hashOf(receipt.jws)
  const offer = found.find(({ payload }) => payload['receiptHash'] === receiptHash)
  if (offer === undefined || nameOf(offer).did !== nameOf(receipt).did) return null
  const { amount, payTo, asset, resourceUrl, network } = offer.payload
  if (resourceUrl !== receipt.payload['resourceUrl'] || network !== receipt.payload['network']) return null
  if (typeof amount !== 'string' || typeof payTo !== 'string' || !/^\d{1,30}$/.test(amount)) return null
  if (typeof asset !== 'string' || (await check(offer, verifier)) !== null) return null
  return { amount: `${inUnits(amount)} USDC`, recipient: payTo }
}

async function hashOf(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return btoa(String.fromCharCode(...hash))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Micro-USDC as a decimal, in the reader's language. */
function inUnits(amount: string): string {
  const digits = amount.padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0{1,6}$/, '')
  const decimal = digits.slice(0, -6).replace(/^0+(?=\d)/, '') + (fraction === '' ? '' : `.${fraction}`)
  // As a text, so that no digit is lost.
  const figures = new Intl.NumberFormat(language(), { maximumFractionDigits: 6 })
  return figures.format(decimal as Intl.StringNumericLiteral)
}

function nameOf({ header }: Token): { did: string; kid: string } {
  const kid = typeof header['kid'] === 'string' ? header['kid'] : ''
  return { did: kid.split('#')[0] ?? '', kid }
}

function hostOf(did: string): string {
  const host = did.replace(/^did:web:/, '').replace(/%3A/gi, ':')
  return host === '' ? say('verify.unknownService') : host
}

/** Without its other fields, because browsers differ in the names of the algorithm that they accept. */
function keyIn(document: unknown, kid: string): PublicKey | null {
  const methods = isRecord(document) ? document['verificationMethod'] : null
  if (!Array.isArray(methods)) return null
  const method = (methods as unknown[]).filter(isRecord).find(({ id }) => id === kid)
  const key = method?.['publicKeyJwk']
  if (!isRecord(key)) return null
  const { kty, crv, x } = key
  return isText(kty) && isText(crv) && isText(x) ? { kty, crv, x } : null
}

function jsonIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(text)))
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/')
  try {
    return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(reason: string): Verdict {
  return { kind: 'invalid', reason }
}

function unknown(reason: string): Verdict {
  return { kind: 'unknown', reason }
}
