import type { Hex } from '../../service/chain/model.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { KEY_MS, newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import type { RefundWay } from '../../service/refunds/model.ts'
import { assertLeast, refundNonce } from '../../service/refunds/rules.ts'

test.each<[string, bigint, RefundWay, bigint, boolean]>([
  ['five cents', 50_000n, 'own', 0n, true],
  ['five cents out of the seller’s balance', 50_000n, 'wallet', 0n, true],
  ['a micro-dollar less than five cents', 49_999n, 'own', 0n, false],
  ['all that is left, of less than five cents', 49_999n, 'own', 950_001n, true],
  ['a part of the rest', 49_998n, 'wallet', 950_001n, false],
  ['any part between two accounts', 1n, 'account', 0n, true],
])('a refund on a chain is at least five cents or all that is left: %s', (_, amount, way, refunded, isEnough) => {
  const refund = () => assertLeast(usdc(amount), way, { amount: usdc(1_000_000n), refunded: usdc(refunded) })
  if (isEnough) expect(refund).not.toThrow()
  else expect(refund).toThrow(DomainError)
})

describe('the nonce of a refund with a key', () => {
  const now = new Date('2026-12-01T12:00:00Z')
  const request = { saleId: newId('pay', now), amount: usdc(500_000n), keyHash: Buffer.alloc(32, 1) }
  const first = refundNonce(request, { made: [], now })
  const madeAt = (nonce: Hex | null, ageMs: number) => ({ nonce, createdAt: new Date(now.getTime() - ageMs) })

  test('is the same whichever operation it has', () => {
    expect(refundNonce(request, { made: [], now })).toEqual(first)
    expect(first.before).toBeNull()
  })

  test.each([
    ['payment', { saleId: newId('pay', now) }],
    ['amount', { amount: usdc(500_001n) }],
    ['amount, all of it', { amount: null }],
    ['key', { keyHash: Buffer.alloc(32, 2) }],
  ])('is another one with another %s', (_, other) => {
    expect(refundNonce({ ...request, ...other }, { made: [], now }).nonce).not.toBe(first.nonce)
  })

  test('is another one once the key is forgotten, and each of these stays the same while it is known', () => {
    const known = madeAt(first.nonce, KEY_MS)
    expect(refundNonce(request, { made: [known], now })).toEqual({ nonce: first.nonce, before: known })
    const forgotten = madeAt(first.nonce, KEY_MS + 1)
    const second = refundNonce(request, { made: [forgotten], now })
    expect(second).toMatchObject({ nonce: expect.not.stringMatching(String(first.nonce)), before: null })
    const again = madeAt(second.nonce, 1)
    expect(refundNonce(request, { made: [forgotten, again], now })).toEqual({ nonce: second.nonce, before: again })
  })
})
