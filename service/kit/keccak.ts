/** Of 0x and 40 hexadecimal digits: in one letter case, or with the letters that its checksum has. */
export function hasSoundChecksum(address: string): boolean {
  const digits = address.slice(2)
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || address === withChecksum(address)
}

/** The address as people write it, which lets a typing error be noticed (EIP-55). */
export function withChecksum(address: string): `0x${string}` {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(new TextEncoder().encode(digits))
  const isUpper = (at: number): boolean => (((hash[at >> 1] ?? 0) >> (at % 2 === 0 ? 4 : 0)) & 8) !== 0
  return `0x${Array.from(digits, (digit, at) => (isUpper(at) ? digit.toUpperCase() : digit)).join('')}`
}

/**
 * Keccak-256 of short texts. `chain/curve.ts` has a faster one, but it loads asynchronously, and a schema cannot wait
 * for it.
 */
export function keccak256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor(data.length / RATE) + 1) * RATE)
  padded.set(data)
  padded[data.length] = 1
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 128
  const view = new DataView(padded.buffer)
  const state = Array.from({ length: 25 }, () => 0n)
  for (let start = 0; start < padded.length; start += RATE) {
    for (let lane = 0; lane < RATE / 8; lane++) {
      state[lane] = (state[lane] ?? 0n) ^ view.getBigUint64(start + lane * 8, true)
    }
    permute(state)
  }
  const hash = new DataView(new ArrayBuffer(32))
  for (const [lane, value] of state.slice(0, 4).entries()) hash.setBigUint64(lane * 8, value, true)
  return new Uint8Array(hash.buffer)
}

/** Bytes of a block. */
const RATE = 136

/** Keccak-f[1600]. */
function permute(state: bigint[]): void {
  const at = (lane: number): bigint => state[lane] ?? 0n
  let register = 1
  for (let round = 0; round < 24; round++) {
    const columns = [0, 1, 2, 3, 4].map((x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20))
    for (let lane = 0; lane < 25; lane++) {
      const x = lane % 5
      state[lane] = at(lane) ^ (columns[(x + 4) % 5] ?? 0n) ^ rotated(columns[(x + 1) % 5] ?? 0n, 1)
    }
    let [x, y, moved] = [1, 0, at(1)]
    for (let step = 1; step <= 24; step++) {
      ;[x, y] = [y, (2 * x + 3 * y) % 5]
      const place = x + 5 * y
      const next = at(place)
      state[place] = rotated(moved, ((step * (step + 1)) / 2) % 64)
      moved = next
    }
    for (let row = 0; row < 25; row += 5) {
      const lanes = [0, 1, 2, 3, 4].map((column) => at(row + column))
      for (let column = 0; column < 5; column++) {
        const [here, one, two] = [lanes[column], lanes[(column + 1) % 5], lanes[(column + 2) % 5]]
        state[row + column] = (here ?? 0n) ^ (~(one ?? 0n) & WORD & (two ?? 0n))
      }
    }
    for (let bit = 0; bit < 7; bit++) {
      if ((register & 1) === 1) state[0] = at(0) ^ (1n << BigInt(2 ** bit - 1))
      register = (register << 1) ^ ((register >> 7) * 0x171)
    }
  }
}

const WORD = 0xffff_ffff_ffff_ffffn

function rotated(word: bigint, by: number): bigint {
  return ((word << BigInt(by)) | (word >> BigInt(64 - by))) & WORD
}
