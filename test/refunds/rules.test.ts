import { DomainError } from '../../service/kit/errors.ts'
import { KEY_MS, newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import type { RefundWay } from '../../service/refunds/model.ts'
import { assertLeast, refundIdOf } from '../../service/refunds/rules.ts'

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

describe('the refund that a request with a key is', () => {
  const now = new Date('2026-12-01T12:00:00Z')
  const operation = newId('op', now)
  const request = { saleId: newId('pay', now), amount: usdc(500_000n), keyHash: Buffer.alloc(32, 1) }
  const nothing = { isOfOperation: false, made: [], now }
  const first = refundIdOf(request, { operation, ...nothing })
  const madeAt = (id: typeof first, ageMs: number) => ({ id, createdAt: new Date(now.getTime() - ageMs) })

  test('is the same whichever operation it has', () => {
    expect(refundIdOf(request, { operation: newId('op', now), ...nothing })).toBe(first)
  })

  test.each([
    ['payment', { saleId: newId('pay', now) }],
    ['amount', { amount: usdc(500_001n) }],
    ['amount, all of it', { amount: null }],
    ['key', { keyHash: Buffer.alloc(32, 2) }],
    ['request without a key', { keyHash: null }],
    ['wallet, the seller’s own', { own: { seenBlock: 1n } }],
  ])('is another one with another %s', (_, other) => {
    expect(refundIdOf({ ...request, ...other }, { operation, ...nothing })).not.toBe(first)
  })

  test('is another one once the key is forgotten, and each of these stays the same while it is known', () => {
    const known = [madeAt(first, KEY_MS)]
    expect(refundIdOf(request, { operation, ...nothing, made: known })).toBe(first)
    const forgotten = [madeAt(first, KEY_MS + 1)]
    const second = refundIdOf(request, { operation, ...nothing, made: forgotten })
    expect(second).not.toBe(first)
    expect(refundIdOf(request, { operation, ...nothing, made: [...forgotten, madeAt(second, 1)] })).toBe(second)
  })

  test('is the one of its operation, where the version before made or paid that', () => {
    const before = refundIdOf({ ...request, keyHash: null }, { operation, ...nothing })
    expect(refundIdOf(request, { operation, ...nothing, made: [madeAt(before, 1)] })).toBe(before)
    expect(refundIdOf(request, { operation, ...nothing, isOfOperation: true })).toBe(before)
  })
})
