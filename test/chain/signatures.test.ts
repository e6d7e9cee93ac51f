import fc from 'fast-check'
import { hashTypedData, recoverAddress, toHex } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import type { Authorization, Hex, Signatures } from '../../service/chain/model.ts'
import { NETWORKS } from '../../service/chain/networks.ts'
import { TYPES } from '../harness/chain.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const hex = (bytes: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => toHex(array))
const number = fc.oneof(fc.bigInt(0n, 1n << 70n), fc.bigInt(0n, (1n << 256n) - 1n))
const authorizations: fc.Arbitrary<Authorization> = fc.record({
  from: hex(20),
  to: hex(20),
  value: number,
  validAfter: number,
  validBefore: number,
  nonce: hex(32),
})
const networks = fc.constantFrom(...Object.values(NETWORKS))
const keys = fc.bigInt(1n, ORDER - 1n).map((key) => toHex(key, { size: 32 }))

describe.each(['native', 'wasm'] as const)('signatures by the %s curve', (kind) => {
  let signatures: Signatures
  beforeAll(async () => {
    signatures = createSignatures(await loadCurve(kind), await loadKeccak())
  })

  it('name their curve', () => {
    expect(signatures.kind).toBe(kind)
  })

  it('makes the digest that viem makes', () => {
    fc.assert(
      fc.property(networks, authorizations, (network, message) => {
        const { name, version, address: verifyingContract } = network.usdc
        const domain = { name, version, chainId: network.chainId, verifyingContract }
        const theirs = hashTypedData({ domain, types: TYPES, primaryType: 'TransferWithAuthorization', message })
        expect(signatures.digest(network, message)).toBe(theirs)
      }),
    )
  })

  it('recover the same signer as viem, with either form of v', async () => {
    await fc.assert(
      fc.asyncProperty(hex(32), keys, fc.boolean(), async (digest, key, fromZero) => {
        const signature = await sign({ hash: digest, privateKey: key, to: 'hex' })
        const spelled = fromZero ? respelled(signature, (v) => v - 27) : signature
        const signer = signatures.recover(digest, spelled)
        expect(signer).toBe(privateKeyToAccount(key).address.toLowerCase())
        expect(signer).toBe((await recoverAddress({ hash: digest, signature })).toLowerCase())
      }),
      { numRuns: 25 },
    )
  })

  it('refuse the malleable twin of a signature', async () => {
    const digest = toHex(7n, { size: 32 })
    const signature = await sign({ hash: digest, privateKey: toHex(5n, { size: 32 }), to: 'hex' })
    const s = BigInt(`0x${signature.slice(66, 130)}`)
    const flipped = respelled(
      `${signature.slice(0, 66)}${toHex(ORDER - s, { size: 32 }).slice(2)}${signature.slice(130)}` as Hex,
      (v) => 55 - v,
    )
    expect(await recoverAddress({ hash: digest, signature: flipped })).toBe(
      await recoverAddress({ hash: digest, signature }),
    )
    expect(signatures.recover(digest, flipped)).toBeNull()
  })

  it.each([
    ['nothing', '0x'],
    ['64 bytes, as EIP-2098 packs them', `0x${'11'.repeat(64)}`],
    ['66 bytes', `0x${'11'.repeat(66)}`],
    ['invalid digits', `0x${'zz'.repeat(65)}`],
    ['r and s of zero', `0x${'00'.repeat(64)}1b`],
    ['an r above the order', `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
    ['a v of EIP-155', `0x${'11'.repeat(64)}25`],
    ['a v of 2', `0x${'11'.repeat(64)}02`],
  ])('refuses %s', (_name, signature) => {
    expect(signatures.recover(toHex(7n, { size: 32 }), signature as Hex)).toBeNull()
  })

  it('make no digest of invalid addresses and values', () => {
    const [network] = Object.values(NETWORKS)
    const good = fc.sample(authorizations, 1)[0]!
    expect(() => signatures.digest(network!, { ...good, to: '0x1234' })).toThrow(RangeError)
    expect(() => signatures.digest(network!, { ...good, nonce: `0x${'zz'.repeat(32)}` })).toThrow(RangeError)
    expect(() => signatures.digest(network!, { ...good, value: 1n << 256n })).toThrow(RangeError)
    expect(() => signatures.digest(network!, { ...good, value: -1n })).toThrow(RangeError)
  })
})

function respelled(signature: Hex, change: (v: number) => number): Hex {
  const v = change(Number.parseInt(signature.slice(130), 16))
  return `${signature.slice(0, 130)}${v.toString(16).padStart(2, '0')}` as Hex
}
