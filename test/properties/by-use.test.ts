import fc from 'fast-check'
import { usdc } from '../../service/kit/money.ts'
import { takenOf } from '../../service/methods/upto/rules.ts'

const amount = fc.bigInt({ min: 1n, max: 10n ** 12n })

it('what is taken of a permit is what was used, never more than was permitted, and never less than can be settled', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), amount, amount, (used, most, least) => {
      const taken = takenOf(usdc(used), { most: usdc(most), least })
      expect(taken).toBeLessThanOrEqual(most)
      expect(taken).toBeGreaterThanOrEqual(least < most ? least : most)
      if (least <= used && used <= most) expect(taken).toBe(used)
    }),
  )
})
