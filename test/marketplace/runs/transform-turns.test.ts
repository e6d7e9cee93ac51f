import type { DomainError } from '../../../service/kit/errors.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import { createTransforms } from '../../../service/transforms/transforms.ts'

test('300 endless transforms of one account delay no other account or environment', async () => {
  const transforms = createTransforms({ clock: systemClock, limitMs: 60_000, waitingMax: 100 })
  const of = (userId: string) => ({ userId, environment: 'sandbox' as const, buyer: 'one' })
  // All threads run before it begins: one that still starts keeps its turn.
  await Promise.all(Array.from({ length: 8 }, (_, n) => transforms.apply('1', {}, of(`usr_${String(n)}`))))
  const refusals: string[] = []
  const hostile = Array.from({ length: 300 }, (_, n) =>
    transforms
      .apply(`($f := function($x){ $f($x + ${String(n)}) }; $f(0))`, {}, of('usr_hostile'))
      .catch((error: unknown) => refusals.push((error as DomainError).code)),
  )
  const honest = ['usr_honest', 'usr_other'].map((userId) => transforms.apply('1 + 1', {}, of(userId)))
  const production = transforms.apply('2 + 2', {}, { ...of('usr_hostile'), environment: 'production' })
  expect([...(await Promise.all(honest)), await production]).toEqual([2, 2, 4])
  // Counted, not timed: they had their turns while the first of the hostile account's had not ended, and all above its line were refused.
  expect(refusals).toEqual(Array.from({ length: 199 }, () => 'transforms_waiting'))
  await transforms.close()
  await Promise.all(hostile)
})
