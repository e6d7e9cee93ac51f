import { createTakeLimit } from '../../service/api/limits.ts'

test('what a limit refuses is not counted: one place that is given back is free again', async () => {
  const limit = createTakeLimit('test', 2, null, 3_600)
  const taken: boolean[] = []
  for (let place = 0; place < 5; place++) taken.push(await limit.take('key'))
  expect(taken).toEqual([true, true, false, false, false])
  await limit.giveBack('key')
  expect([await limit.take('key'), await limit.take('key')]).toEqual([true, false])
})
