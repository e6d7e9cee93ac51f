import type { Hex } from '../../chain/model.ts'

/** Addresses and hashes are kept as bytes: half the size, and letter case cannot tell two apart. */
export function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

export function hexOf(bytes: Buffer): Hex {
  return `0x${bytes.toString('hex')}`
}
