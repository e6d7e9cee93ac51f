import { hkdfSync } from 'node:crypto'
import { DomainError } from '../kit/errors.ts'
import type { Curve } from './curve.ts'
import { addressOf } from './eip712.ts'
import type { Keccak } from './keccak.ts'
import type { Address, Authorization, Hex, Signatures, SignedAuthorization } from './model.ts'
import type { Network } from './networks.ts'

/** One key that pays: the same authorization always gets the same signature (RFC 6979). */
export interface PayerKey {
  readonly address: Address
  sign(network: Network, authorization: Authorization): SignedAuthorization
}

/**
 * A key for each name, all from one seed (HKDF, RFC 5869): the same seed and name always give the same wallet, and one
 * key tells nothing of the others or of the seed.
 */
export function payersOf(seed: Hex, parts: Parts): { of(name: string): PayerKey } {
  const secret = Buffer.from(seed.slice(2), 'hex')
  return {
    of: (name) => payerOf(`0x${Buffer.from(hkdfSync('sha256', secret, SALT, name, 32)).toString('hex')}`, parts),
  }
}

const SALT = 'coinslot payer wallets'

/** `key` is 32 bytes. Throws where they are no key of the curve: once in 2^128 names. */
function payerOf(key: Hex, { curve, keccak, signatures }: Parts): PayerKey {
  const bytes = Buffer.from(key.slice(2), 'hex')
  const address = addressIn(bytes, { curve, keccak })
  return {
    address,
    sign(network, authorization) {
      const digest = signatures.digest(network, authorization)
      const made = curve.sign(Buffer.from(digest.slice(2), 'hex'), bytes)
      const signature: Hex = `0x${Buffer.from(made.signature).toString('hex')}${made.recovery === 0 ? '1b' : '1c'}`
      // Found out here rather than by a seller, who would have been shown it.
      if (authorization.from.toLowerCase() !== address) throw keyFault('The payer signs for its own address only.')
      return { ...authorization, signature }
    },
  }
}

interface Parts {
  curve: Curve
  keccak: Keccak
  signatures: Signatures
}

function addressIn(bytes: Buffer, { curve, keccak }: Omit<Parts, 'signatures'>): Address {
  try {
    return addressOf(keccak, curve.publicKey(bytes))
  } catch (error) {
    throw keyFault('This seed gives no key for this wallet: draw another one.', error)
  }
}

function keyFault(sentence: string, cause?: unknown): DomainError {
  return new DomainError('failed', 'payer_key', sentence, {}, cause)
}
