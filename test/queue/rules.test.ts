import { jobIdOf, jobOf, nextTry } from '../../service/queue/rules.ts'

const now = new Date('2030-01-01T00:00:00.000Z')

describe('the next try of a row', () => {
  it('waits at least what its schedule says, and at most a fifth longer', () => {
    expect(nextTry([1_000, 5_000], 1, now, 0)).toEqual(new Date(now.getTime() + 1_000))
    expect(nextTry([1_000, 5_000], 2, now, 1)).toEqual(new Date(now.getTime() + 6_000))
  })

  it('does not come when the schedule is used up, nor without one', () => {
    expect(nextTry([1_000, 5_000], 3, now, 0.5)).toBeNull()
    expect(nextTry([], 1, now, 0.5)).toBeNull()
  })
})

describe('the id of a job', () => {
  it('names the row and the try, and reads back', () => {
    expect(jobIdOf({ id: '9007199254740993', attempt: 3 })).toBe('9007199254740993-3')
    expect(jobOf('9007199254740993-3')).toEqual({ id: '9007199254740993', attempt: 3 })
  })

  it.each(['', '12', '12-', 'repeat:12-3', '12-3-4', '12-x'])('is none of ours: %p', (id) => {
    expect(jobOf(id)).toBeNull()
  })
})
