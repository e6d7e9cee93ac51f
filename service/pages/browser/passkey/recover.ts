import type { Hex, PublicKey } from '../../../kit/passkey-wallet.ts'

/**
 * The keys of P-256 that may have made this signature: two, of which a second signature tells the right one. A browser
 * gives the public key of a passkey once, when it is made, so this is how another device, or one that forgot, finds the
 * wallet again. Only public values are computed with. The caller checks each key with the browser's own implementation.
 */
export function keysBehind(hash: Uint8Array, { r, s }: { r: bigint; s: bigint }): PublicKey[] {
  const y = rootOf(mod(r * r * r - 3n * r + B, P))
  if (y === null) return []
  const inverse = invert(r, N)
  const fromPoint = times({ x: r, y }, mod(s * inverse, N))
  const fromHash = times(G, mod(-integer(hash) * inverse, N))
  return [fromPoint, negated(fromPoint)].map((point) => keyOf(plus(point, fromHash))).filter((key) => key !== null)
}

const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
const G: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
}

/** Null is the point at infinity. */
type Point = { x: bigint; y: bigint } | null

function plus(one: Point, other: Point): Point {
  if (one === null) return other
  if (other === null) return one
  if (one.x === other.x && mod(one.y + other.y, P) === 0n) return null
  const slope =
    one.x === other.x
      ? (3n * one.x * one.x - 3n) * invert(2n * one.y, P)
      : (other.y - one.y) * invert(other.x - one.x, P)
  const x = mod(slope * slope - one.x - other.x, P)
  return { x, y: mod(slope * (one.x - x) - one.y, P) }
}

function times(point: Point, by: bigint): Point {
  let sum: Point = null
  for (let bit = point, left = by; left > 0n; left >>= 1n, bit = plus(bit, bit)) {
    if ((left & 1n) === 1n) sum = plus(sum, bit)
  }
  return sum
}

function negated(point: Point): Point {
  return point === null ? null : { x: point.x, y: mod(-point.y, P) }
}

function keyOf(point: Point): PublicKey | null {
  const coordinate = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
  return point === null ? null : { x: coordinate(point.x), y: coordinate(point.y) }
}

/** The square root; null where there is none. */
function rootOf(square: bigint): bigint | null {
  let root = 1n
  for (let base = square, left = (P + 1n) / 4n; left > 0n; left >>= 1n, base = mod(base * base, P)) {
    if ((left & 1n) === 1n) root = mod(root * base, P)
  }
  return mod(root * root, P) === square ? root : null
}

function invert(value: bigint, modulus: bigint): bigint {
  let [low, high, first, second] = [mod(value, modulus), modulus, 1n, 0n]
  while (low > 1n) {
    const times = high / low
    ;[low, high, first, second] = [high - times * low, low, second - times * first, first]
  }
  return mod(first, modulus)
}

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus
  return rest < 0n ? rest + modulus : rest
}

function integer(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}
