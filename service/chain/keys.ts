import { english, generateMnemonic, HDKey, privateKeyToAddress } from 'viem/accounts'
import { DomainError } from '../kit/errors.ts'
import type { Curve, Keccak } from './curve.ts'
import { addressOf } from './eip712.ts'
import type { Address, Authorization, Hex, Signatures, SignedAuthorization } from './model.ts'
import type { Network } from './networks.ts'
import { hkdfSync, pbkdf2Sync } from 'node:crypto'

/**
 * The addresses of one BIP-32 account, by public derivation alone: no key that could move anything is needed to
 * hand them out. Under the account's extended public key (m/44'/60'/0' of the wallet that made it) a deposit
 * address is `0/<index>`, as every wallet program numbers its own, the treasury is `1/0`, and an address at which one
 * order is paid is `2/<index>`.
 */
export interface DepositAddresses {
  /** Identifies the account: the first bytes of the hash of its public key. */
  readonly account: string
  readonly treasury: Address
  addressAt(index: number): Address
  paymentAddressAt(index: number): Address
}

/** Whose key signs: that of a deposit address, of the treasury, or of an order's address. */
type KeyPlace = number | 'treasury' | { order: number }

/** Signs for those addresses. Only a worker has one. */
export interface DepositSigner {
  readonly account: string
  sign(by: KeyPlace, network: Network, authorization: Authorization): SignedAuthorization
}

/** From an extended public key. Throws a sentence when the text is not one, or when its key could sign. */
export function depositAddresses(xpub: string, { curve, keccak }: Omit<Crypto, 'signatures'>): DepositAddresses {
  const account = read(xpub, 'WALLET_XPUB')
  if (account.privateKey !== null) throw keyFault('WALLET_XPUB must be a public key: set it to the xpub… key.')
  const deposits = account.deriveChild(0)
  const orders = account.deriveChild(2)
  const own = (key: HDKey): Address => {
    if (key.publicKey === null) throw new Error('an extended key has a public key')
    return addressOf(keccak, curve.uncompress(key.publicKey))
  }
  return {
    account: nameOf(account),
    treasury: own(account.deriveChild(1).deriveChild(0)),
    addressAt: (index) => own(deposits.deriveChild(index)),
    paymentAddressAt: (index) => own(orders.deriveChild(index)),
  }
}

/** From an extended private key: the signer, and the public key that the rest of the service works with. */
export function depositSigner(
  xprv: string,
  { curve, signatures }: Omit<Crypto, 'keccak'>,
): { signer: DepositSigner; xpub: string } {
  const account = read(xprv, 'WALLET_XPRV')
  if (account.privateKey === null) throw keyFault('WALLET_XPRV must be a private key: set it to the xprv… key.')
  const deposits = account.deriveChild(0)
  const orders = account.deriveChild(2)
  const treasury = account.deriveChild(1).deriveChild(0)
  const keyAt = (place: KeyPlace): HDKey =>
    place === 'treasury'
      ? treasury
      : typeof place === 'number'
        ? deposits.deriveChild(place)
        : orders.deriveChild(place.order)
  return {
    xpub: account.publicExtendedKey,
    signer: {
      account: nameOf(account),
      sign(by, network, authorization) {
        const { privateKey } = keyAt(by)
        if (privateKey === null) throw new Error('a key derived from a private one is private')
        const digest = signatures.digest(network, authorization)
        const signature = signatureOf(curve, digest, privateKey)
        // With a wrong key the chain would refuse the transfer only minutes later. This check fails before anything is
        // stored.
        if (signatures.recover(digest, signature) !== authorization.from) {
          throw keyFault('The wallet key does not belong to the address that it should sign for.')
        }
        return { ...authorization, signature }
      },
    },
  }
}

/** The account that wallet programs derive from a 32-byte seed. */
export function accountOfSeed(seed: string): string {
  return HDKey.fromMasterSeed(Buffer.from(seed, 'hex')).derive(ACCOUNT_PATH).privateExtendedKey
}

/** 24 words, which wallet programs read too (BIP-39). */
export function newPhrase(): string {
  return generateMnemonic(english, 256)
}

/** All keys of a server from one phrase, so that one sheet of paper restores them. */
export function keysOfPhrase(phrase: string): PhraseKeys {
  const root = HDKey.fromMasterSeed(pbkdf2Sync(phrase.normalize('NFKD'), 'mnemonic', 2_048, 64, 'sha512'))
  const wallet = root.derive(ACCOUNT_PATH)
  const digits = (account: number): string => {
    const { privateKey } = root.derive(`m/44'/60'/${String(account)}'/0/0`)
    if (privateKey === null) throw new Error('a key derived from a private one is private')
    return Buffer.from(privateKey).toString('hex')
  }
  const sponsor: Hex = `0x${digits(1)}`
  return {
    xpub: wallet.publicExtendedKey,
    xprv: wallet.privateExtendedKey,
    sponsor,
    sponsorAddress: privateKeyToAddress(sponsor),
    payerSeed: digits(2),
  }
}

export interface PhraseKeys {
  xpub: string
  xprv: string
  sponsor: Hex
  sponsorAddress: Address
  payerSeed: string
}

const ACCOUNT_PATH = "m/44'/60'/0'"

/** As people and wallet programs write an address, with its checksum (EIP-55). */
export function checksummed(keccak: Keccak, address: Address): Address {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak.hex(Buffer.from(digits))
  const letters = Array.from(digits, (digit, place) =>
    Number(`0x${hash[place] ?? '0'}`) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${letters.join('')}`
}

function nameOf(account: HDKey): string {
  return account.fingerprint.toString(16).padStart(8, '0')
}

function read(text: string, name: string): HDKey {
  try {
    return HDKey.fromExtendedKey(text)
  } catch (error) {
    throw keyFault(`${name} must be an extended key (BIP-32); this one is incomplete.`, error)
  }
}

/** 65 bytes, as USDC wants them. */
function signatureOf(curve: Curve, digest: Hex, key: Uint8Array): Hex {
  const { signature, recovery } = curve.sign(Buffer.from(digest.slice(2), 'hex'), key)
  return `0x${Buffer.from(signature).toString('hex')}${recovery === 0 ? '1b' : '1c'}`
}

function keyFault(sentence: string, cause?: unknown): DomainError {
  return new DomainError('failed', 'wallet_key', sentence).causedBy(cause)
}

function payerFault(sentence: string, cause?: unknown): DomainError {
  return new DomainError('failed', 'payer_key', sentence).causedBy(cause)
}

/** One key that pays: the same authorization always gets the same signature (RFC 6979). */
export interface PayerKey {
  readonly address: Address
  sign(network: Network, authorization: Authorization): SignedAuthorization
}

/**
 * A key for each name, all from one seed (HKDF, RFC 5869). The same seed and name always give the same wallet, and one
 * key reveals neither the other keys nor the seed.
 */
export function payersOf(seed: Hex, crypto: Crypto): { of(name: string): PayerKey } {
  const secret = Buffer.from(seed.slice(2), 'hex')
  return {
    of: (name) => payerOf(`0x${Buffer.from(hkdfSync('sha256', secret, SALT, name, 32)).toString('hex')}`, crypto),
  }
}

const SALT = 'coinslot payer wallets'

/** `key` is 32 bytes. Throws when they are not a valid key of the curve, which happens for one name in 2^128. */
function payerOf(key: Hex, { curve, keccak, signatures }: Crypto): PayerKey {
  const bytes = Buffer.from(key.slice(2), 'hex')
  const address = addressIn(bytes, { curve, keccak })
  return {
    address,
    sign(network, authorization) {
      const signature = signatureOf(curve, signatures.digest(network, authorization), bytes)
      // Refused here and not by the seller, who would already have seen the signature.
      if (authorization.from.toLowerCase() !== address) throw payerFault('The payer signs for its own address only.')
      return { ...authorization, signature }
    },
  }
}

interface Crypto {
  curve: Curve
  keccak: Keccak
  signatures: Signatures
}

function addressIn(bytes: Buffer, { curve, keccak }: Omit<Crypto, 'signatures'>): Address {
  try {
    return addressOf(keccak, curve.publicKey(bytes))
  } catch (error) {
    throw payerFault('This seed produces no key for this wallet: generate another seed.', error)
  }
}
