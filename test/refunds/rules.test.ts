import { DomainError } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import type { RefundWay } from '../../service/refunds/model.ts'
import { assertLeast } from '../../service/refunds/rules.ts'

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
