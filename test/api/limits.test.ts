import { createGuessLimit, createTakeLimit } from '../../service/api/limits.ts'

test('what a limit refuses is not counted: one place that is given back is free again', async () => {
  const limit = createTakeLimit('test', 2, null, 3_600)
  const taken: boolean[] = []
  for (let place = 0; place < 5; place++) taken.push(await limit.take('key'))
  expect(taken).toEqual([true, true, false, false, false])
  await limit.giveBack('key')
  expect([await limit.take('key'), await limit.take('key')]).toEqual([true, false])
})

test('of wrong guesses at once only as many as are allowed are looked at, and right ones cost nothing', async () => {
  const limit = createGuessLimit('test', 3, null)
  let looked = 0
  const guess = (isRight: boolean) =>
    limit.guess(
      'key',
      async () => ++looked,
      () => isRight,
    )
  const passed = async (isRight: boolean) =>
    (await Promise.allSettled(Array.from({ length: 10 }, () => guess(isRight)))).filter(
      ({ status }) => status === 'fulfilled',
    ).length
  expect([await passed(true), looked]).toEqual([10, 10])
  expect([await passed(false), looked]).toEqual([3, 13])
  await expect(guess(true)).rejects.toMatchObject({ kind: 'limited', code: 'rate_limited' })
  expect(looked).toBe(13)
})

test('a guess that could not be looked at is not counted', async () => {
  const limit = createGuessLimit('test', 1, null)
  const fails = () => Promise.reject(new Error('down'))
  for (let nth = 0; nth < 3; nth++) await expect(limit.guess('key', fails, () => false)).rejects.toThrow('down')
  expect(
    await limit.guess(
      'key',
      async () => 'wrong',
      () => false,
    ),
  ).toBe('wrong')
})
