import { FairLine } from '../../service/kit/fair-line.ts'

describe('a line', () => {
  test('gives each account its first turn before any account its second', () => {
    const line = new FairLine<number>({ perAccount: 2, waitingMax: 300 })
    for (let n = 0; n < 200; n++) line.join('hostile', n)
    line.join('honest', 1)
    line.join('other', 1)
    const turns = [1, 2, 3, 4].map(() => line.next()?.account)
    expect(turns).toEqual(['hostile', 'honest', 'other', 'hostile'])
    expect(line.next()).toBeUndefined()
    line.join('late', 1)
    line.leave('hostile')
    expect([line.next()?.account, line.next()?.account].sort()).toEqual(['hostile', 'late'])
  })

  test('is limited for each account, and forgets accounts without entries', () => {
    const line = new FairLine<number>({ perAccount: 1, waitingMax: 2 })
    expect([line.join('a', 1), line.join('a', 2), line.join('a', 3), line.join('b', 1)]).toEqual([
      true,
      true,
      false,
      true,
    ])
    expect(line.next()).toEqual({ account: 'a', item: 1 })
    expect([line.join('a', 3), line.join('a', 4)]).toEqual([true, false])
    expect(line.dissolve().sort()).toEqual([1, 2, 3])
  })
})
