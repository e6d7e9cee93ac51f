import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign as signBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { Curve, Keccak } from '../chain/curve.ts'
import { addressOf } from '../chain/eip712.ts'
import type { Addresses } from '../config.ts'
import type { PublishedKey } from '../kit/schema/settings.ts'
import { createOfferSigner, type OfferSigner, type SigningKeys } from '../x402/offer-receipt.ts'
import type { Chains } from './chains.ts'
import type { Part, Platform } from './platform.ts'

/** What signs offers and receipts, and where the keys to verify them are published. */
export interface ReceiptKeys {
  signer: OfferSigner
  /** The addresses of the DID documents, by DID. */
  issuers: Readonly<Record<string, string>>
  part: Part
}

/**
 * The keys are derived from the secret that all processes share, by a version: a new version is a new pair of keys, and
 * the earlier ones stay published, so that their receipts stay verifiable.
 */
export function openReceiptKeys({ config, secret, clock }: Platform, { curve, keccak }: Chains): ReceiptKeys {
  const { RECEIPT_KEY_VERSION: current, RECEIPT_OLD_JWKS: earlier, addresses, ROLES } = config
  const crypto = { curve, keccak }
  const pairs = Array.from({ length: current + 1 }, (_, index) => pairOf(secret, index + 1, crypto))
  const pair = pairs[current - 1]
  if (pair === undefined) throw new Error('versions of keys begin at 1')
  const hosts = hostsOf(addresses)
  const fallback = hostOf(addresses.receipts)
  const issuerOf = (resource: string): string => {
    const host = URL.canParse(resource) ? hostOf(resource) : fallback
    return didOf(hosts.has(host) ? host : fallback)
  }
  // The current key is first, for a reader that takes one without a name. The next one is published in advance: while a
  // new version is rolled out, processes with the old setting publish it too.
  const published = [pair, ...pairs.filter((one) => one !== pair)].flatMap(({ keys }) => keys).concat(earlier)
  const signer = createOfferSigner({ ...pair.signing, issuerOf, keccak: (data) => keccak.bytes(data) }, clock)
  const issuers = Object.fromEntries(
    Object.values({ ...addresses }).map((address) => [didOf(hostOf(address)), `${new URL(address).origin}${DID_PATH}`]),
  )
  const handler = served((host) => didDocument(didOf(hosts.has(host) ? host : fallback), published, crypto))
  // Each host of the service has its own document, so every process serves it, whatever its roles.
  // `bare`, so that it is served before the gate, which answers every path of its own host.
  const mounted = ROLES.slice(0, 1).map((role) => ({ role, path: DID_PATH, handler, bare: true }))
  return { signer, issuers, part: { mounted } }
}

interface Crypto {
  curve: Curve
  keccak: Keccak
}

const DID_PATH = '/.well-known/did.json'

function hostOf(address: string): string {
  return new URL(address).host
}

function hostsOf(addresses: Addresses): ReadonlySet<string> {
  return new Set(Object.values({ ...addresses }).map(hostOf))
}

/** A port is written with %3A, because a colon begins a path (did:web). */
function didOf(host: string): string {
  return `did:web:${host.replace(':', '%3A')}`
}

interface Pair {
  signing: Pick<SigningKeys, 'jws' | 'eip712'>
  keys: readonly PublishedKey[]
}

/** Both keys of a version. Their names contain a hash of the key, so another secret never reuses a name. */
function pairOf(secret: string, version: number, { curve }: Crypto): Pair {
  const seed = (use: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `coinslot receipts ${use} ${String(version)}`, length))
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, seed('jws', 32)]),
    format: 'der',
    type: 'pkcs8',
  })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const jws = named({ kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA' }, version)
  const scalar = scalarOf(seed('eip712', 48))
  const point = Buffer.from(curve.publicKey(scalar))
  const [left, right] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const eip712 = named({ kty: 'EC', crv: 'secp256k1', x: left ?? '', y: right ?? '', alg: 'ES256K' }, version)
  return {
    signing: {
      jws: { name: jws.kid, algorithm: 'EdDSA', sign: (data) => signBytes(null, data, privateKey) },
      eip712: {
        name: eip712.kid,
        sign(hash) {
          const { signature, recovery } = curve.sign(hash, scalar)
          return `0x${Buffer.from(signature).toString('hex')}${recovery === 0 ? '1b' : '1c'}`
        },
      },
    },
    keys: [jws, eip712],
  }
}

function named(key: Omit<PublishedKey, 'kid'>, version: number): PublishedKey {
  const hash = createHash('sha256').update(`${key.crv} ${key.x}`).digest('base64url').replace(/[-_]/g, '')
  return { ...key, kid: `${key.kty === 'OKP' ? 'jws' : 'eip712'}-${String(version)}-${hash.slice(0, 10)}` }
}

/** A private key of secp256k1 from more bytes than it has, so that each key is equally likely. */
function scalarOf(bytes: Buffer): Buffer {
  const scalar = (BigInt(`0x${bytes.toString('hex')}`) % (ORDER - 1n)) + 1n
  return Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/** What stands before the 32 bytes of an Ed25519 key in its DER form. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The public keys of a host (did:web). Typed data only tells an address, so those keys are published as one too. */
function didDocument(did: string, keys: readonly PublishedKey[], { keccak }: Pick<Crypto, 'keccak'>) {
  const verificationMethod = keys.flatMap((publicKeyJwk) => {
    const id = `${did}#${publicKeyJwk.kid}`
    const method = { id, type: 'JsonWebKey2020', controller: did, publicKeyJwk }
    if (publicKeyJwk.y === undefined) return [method]
    const point = [publicKeyJwk.x, publicKeyJwk.y].map((part) => Buffer.from(part, 'base64url'))
    const address = addressOf(keccak, Buffer.concat([Buffer.of(4), ...point]))
    const type = 'EcdsaSecp256k1RecoveryMethod2020'
    return [method, { id: `${id}-address`, type, controller: did, blockchainAccountId: `eip155:1:${address}` }]
  })
  return {
    '@context': [
      'https://www.w3.org/ns/did/v1',
      'https://w3id.org/security/suites/jws-2020/v1',
      'https://w3id.org/security/suites/secp256k1recovery-2020/v2',
    ],
    id: did,
    verificationMethod,
    assertionMethod: verificationMethod.map(({ id }) => id),
  }
}

function served(documentOf: (host: string) => object): RequestHandler {
  return (request, response, next) => {
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next()
      return
    }
    response.set({
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=300',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'",
    })
    response.json(documentOf(request.host))
  }
}
