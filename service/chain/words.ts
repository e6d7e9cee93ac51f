import type { Address, Hex } from './model.ts'

/**
 * The 32-byte words of the contract ABI, as hexadecimal text without 0x. Written by hand because a library's
 * encoder costs more for each authorization than its recovery does.
 */
export function numberWord(value: bigint | number): string {
  return value.toString(16).padStart(64, '0')
}

export function addressWord(address: Address): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

/** A byte string as the ABI's tail holds it: its length, then its bytes, padded to whole words. */
export function bytesTail(data: Hex): string {
  const digits = data.slice(2)
  return numberWord(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
}

/** Several tails behind the table that says where each begins. */
export function tailsWithOffsets(tails: readonly string[]): string {
  let offset = tails.length * 32
  let table = ''
  for (const tail of tails) {
    table += numberWord(offset)
    offset += tail.length / 2
  }
  return table + tails.join('')
}

/** Reads 32-byte words of an answer. Positions are in bytes. Throws when the answer is too short. */
export class Words {
  readonly #bytes: Buffer

  constructor(data: Hex) {
    this.#bytes = Buffer.from(data.slice(2), 'hex')
  }

  number(at: number): bigint {
    return BigInt(`0x${this.#slice(at, 32).toString('hex')}`)
  }

  /** An offset or a length. In a real answer it always fits into four bytes. */
  size(at: number): number {
    return this.#slice(at, 32).readUInt32BE(28)
  }

  flag(at: number): boolean {
    return this.size(at) !== 0
  }

  bytes(at: number): Buffer {
    return this.#slice(at + 32, this.size(at))
  }

  #slice(at: number, length: number): Buffer {
    if (at + length > this.#bytes.length) throw new Error('the answer is shorter than its declared length')
    return this.#bytes.subarray(at, at + length)
  }
}

/** A number as JSON-RPC writes it. */
export function hex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** An address out of the last 20 bytes of a word. */
export function addressOfWord(word: Hex): Address {
  return `0x${word.slice(-40).toLowerCase()}`
}
