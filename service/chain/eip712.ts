import type { Curve, Keccak } from './curve.ts'
import { deploymentOf, isUndeployed } from './deployment.ts'
import type { Authorization, Hex, Signatures } from './model.ts'
import { createEscrowHashes } from './escrow.ts'
import { ESCROW, NETWORKS, type Network } from './networks.ts'
import { createPermitDigest } from './upto.ts'

/** What both networks' USDC means by a signature, on libraries that were loaded at boot. */
export function createSignatures(curve: Curve, keccak: Keccak): Signatures {
  const transferType = keccak.bytes(Buffer.from(`Transfer${TYPE}`))
  const receiveType = keccak.bytes(Buffer.from(`Receive${TYPE}`))
  const separators = new Map<number, Uint8Array>(
    Object.values(NETWORKS).map((network) => [network.chainId, domainSeparator(keccak, network)]),
  )
  // Each call overwrites both buffers. This is safe because a call is synchronous: no other call runs in between.
  const struct = Buffer.alloc(7 * 32)
  const preimage = Buffer.alloc(66)
  preimage.set([0x19, 0x01], 0)

  return {
    kind: curve.kind,
    escrow: createEscrowHashes(keccak),
    permitDigest: createPermitDigest(keccak),
    digest(network, authorization) {
      // A plain transfer to the collector would be lost, so what names it is always for the escrow.
      struct.set(authorization.to.toLowerCase() === ESCROW.collector ? receiveType : transferType, 0)
      fill(struct, authorization)
      const separator = separators.get(network.chainId)
      if (separator === undefined) throw new Error(`no USDC is known on chain ${String(network.chainId)}`)
      preimage.set(separator, 2)
      preimage.set(keccak.bytes(struct), 34)
      return `0x${keccak.hex(preimage)}`
    },
    deployment(signature) {
      return deploymentOf(signature) ?? (isUndeployed(signature) ? 'malformed' : null)
    },
    recover(digest, signature) {
      const parts = parseSignature(signature)
      if (parts === null) return null
      const key = curve.recover(Buffer.from(digest.slice(2), 'hex'), parts.compact, parts.recovery)
      return key === null ? null : addressOf(keccak, key)
    },
  }
}

/** The account of an uncompressed public key, in lower case. */
export function addressOf(keccak: Keccak, publicKey: Uint8Array): Hex {
  return `0x${keccak.hex(publicKey.subarray(1)).slice(24)}`
}

/** The rules of USDC's ECRecover; `s` above half the order would be a second signature of the same payment. */
function parseSignature(signature: Hex): { compact: Buffer; recovery: 0 | 1 } | null {
  if (signature.length !== 132) return null
  const bytes = Buffer.from(signature.slice(2), 'hex')
  // Node stops at the first character that is no hexadecimal digit, so the bytes come out too short.
  if (bytes.length !== 65) return null
  const compact = bytes.subarray(0, 64)
  if (compact.compare(HALF_ORDER, 0, 32, 32, 64) > 0) return null
  const v = bytes[64]
  if (v === 27 || v === 0) return { compact, recovery: 0 }
  if (v === 28 || v === 1) return { compact, recovery: 1 }
  return null
}

function domainSeparator(keccak: Keccak, { chainId, usdc }: Network): Uint8Array {
  const domain = Buffer.alloc(5 * 32)
  domain.set(keccak.bytes(Buffer.from(DOMAIN_TYPE)), 0)
  domain.set(keccak.bytes(Buffer.from(usdc.name)), 32)
  domain.set(keccak.bytes(Buffer.from(usdc.version)), 64)
  domain.writeUInt32BE(chainId, 3 * 32 + 28)
  domain.write(usdc.address.slice(2), 4 * 32 + 12, 'hex')
  return keccak.bytes(domain)
}

function fill(struct: Buffer, authorization: Authorization): void {
  // The first twelve bytes of an address' word are zero from the beginning and stay so.
  writeDigits(struct, authorization.from, 20, 32 + 12)
  writeDigits(struct, authorization.to, 20, 2 * 32 + 12)
  writeNumber(struct, authorization.value, 3 * 32)
  writeNumber(struct, authorization.validAfter, 4 * 32)
  writeNumber(struct, authorization.validBefore, 5 * 32)
  writeDigits(struct, authorization.nonce, 32, 6 * 32)
}

function writeDigits(struct: Buffer, digits: Hex, length: number, at: number): void {
  // Fewer bytes would leave part of the previous authorization in their place.
  if (digits.length !== 2 + 2 * length || struct.write(digits.slice(2), at, 'hex') !== length) {
    throw new RangeError(`an authorization needs ${String(length)} bytes where it has ${digits}`)
  }
}

function writeNumber(struct: Buffer, value: bigint, at: number): void {
  if (value >> 256n !== 0n) throw new RangeError('a number of an authorization has at most 256 bits')
  // Almost all amounts and times fit into eight bytes. Those are written without building a text first.
  if (value <= MAX_64_BITS) {
    struct.fill(0, at, at + 24)
    struct.writeBigUInt64BE(value, at + 24)
  } else {
    struct.write(value.toString(16).padStart(64, '0'), at, 'hex')
  }
}

const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const TYPE =
  'WithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')
const MAX_64_BITS = (1n << 64n) - 1n
