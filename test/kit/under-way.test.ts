import { Departure } from '../../service/kit/departure.ts'
import { orAborted, UnderWay } from '../../service/kit/under-way.ts'

const enough = new Error('enough')
const never = () => new Promise<string>(() => undefined)

describe('work under a signal', () => {
  test('that ignores it is not waited for, also where it had aborted before', async () => {
    const controller = new AbortController()
    const end = orAborted(never(), controller.signal)
    controller.abort(enough)
    await expect(end).rejects.toBe(enough)
    await expect(orAborted(never(), controller.signal)).rejects.toBe(enough)
  })

  test('that fails by itself throws its own error', async () => {
    await expect(orAborted(Promise.reject(enough), new AbortController().signal)).rejects.toBe(enough)
  })
})

describe('work in progress', () => {
  test('is known by its key until it ends', async () => {
    const underWay = new UnderWay<string, string>()
    let finish: (value: string) => void = () => undefined
    const end = underWay.follow('a', new Departure(), () => new Promise((resolve) => (finish = resolve)))
    expect([underWay.size, underWay.endOf('b')]).toEqual([1, null])
    const also = underWay.endOf('a')
    finish('done')
    expect([await end, await also, underWay.size, underWay.endOf('a')]).toEqual(['done', 'done', 0, null])
  })

  test('is taken back before its request leaves, and not afterwards', async () => {
    const underWay = new UnderWay<string, string>()
    const [early, late] = [new Departure(), new Departure()]
    const ends = Object.entries({ early, late }).map(([key, departure]) =>
      underWay.follow(key, departure, () => orAborted(never(), departure.signal)),
    )
    late.leave()
    expect([underWay.recall('late', enough), underWay.recall('unknown', enough)]).toEqual([null, null])
    await expect(underWay.recall('early', enough)).rejects.toBe(enough)
    await expect(ends[0]).rejects.toBe(enough)
    expect([underWay.size, late.signal.aborted]).toEqual([1, false])
    void ends[1]?.catch(() => undefined)
    await underWay.stop(enough)
  })

  test('is ended and waited for when the process stops, also after its request has left', async () => {
    const underWay = new UnderWay<string, string>()
    const departure = new Departure()
    const after: string[] = []
    const end = underWay.follow('a', departure, async () => {
      departure.leave()
      return await orAborted(never(), departure.signal).catch(async () => {
        await new Promise(setImmediate)
        after.push('released')
        return 'ended'
      })
    })
    await underWay.stop(enough)
    expect([after, await end]).toEqual([['released'], 'ended'])
    expect(() => departure.leave()).toThrow(enough)
  })
})
