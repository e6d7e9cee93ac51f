import { createSlots } from '../../service/deliveries/service/slots.ts'
import { ok, startReceiver } from './receiver.ts'
import { startWorld } from './world.ts'

describe('a receiver that hangs', () => {
  test('delays no other receiver, and loses none of its own deliveries', async () => {
    const world = await startWorld()
    const hanging = await startReceiver()
    const held: (() => void)[] = []
    let gaveUp = 0
    hanging.answers((response) => {
      response.once('close', () => gaveUp++)
      held.push(() => response.end('{}'))
    })
    const stuck = await Promise.all(Array.from({ length: 120 }, () => world.write({ to: { url: hanging.url } })))
    await hanging.waitForCalls(24)

    const quick = await Promise.all(Array.from({ length: 50 }, () => world.write()))
    await world.receiver.waitForCalls(50)
    // A delivery that waited for a slot of the hanging receiver would be sent after a try there was given up.
    expect(gaveUp).toBe(0)
    expect(new Set(world.receiver.calls.map(({ id }) => id))).toEqual(new Set(quick))
    expect(hanging.calls.length).toBeLessThanOrEqual(48)

    hanging.answers(ok)
    for (const end of held) end()
    const delivered = async () => {
      const { rows } = await world.service.database.pool.query<{ done: boolean }>(
        `SELECT count(*) = $2 AS done FROM delivery WHERE id = ANY($1) AND state = 'delivered'`,
        [stuck, stuck.length],
      )
      return rows[0]?.done === true
    }
    while (!(await delivered())) {
      world.service.clock.forward(5_000)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await hanging.close()
    await world.close()
  })
})

describe('a lane', () => {
  const sizes = { own: 2, host: 3, account: 10, environment: 20 }

  test('that is full and fast lets the next one wait', async () => {
    const slots = createSlots(sizes, () => 0)
    const [first] = [await enterSlot(slots), await enterSlot(slots)]
    const third = enterSlot(slots)
    first.leave()
    ;(await third).leave()
  })

  test('lets no more in than it has slots after one has waited', async () => {
    const slots = createSlots({ own: 1, host: 1, account: 10, environment: 20 }, () => 0)
    const first = await enterSlot(slots)
    const second = enterSlot(slots)
    first.leave()
    const entered = await second
    expect(await slots.enter(by('own'))).toHaveProperty('stayAwayMs')
    entered.leave()
    await enterSlot(slots)
  })

  test('that stays full postpones deliveries, each longer than the one before', async () => {
    const slots = createSlots(sizes, () => 0)
    await enterSlot(slots)
    await enterSlot(slots)
    // The first delivery waits until the group of slots counts as slow; the later ones are postponed at once.
    const stays: number[] = []
    for (let n = 0; n < 20; n++) {
      const place = await slots.enter(by('own'))
      if (!('stayAwayMs' in place)) throw new Error('there was room')
      stays.push(place.stayAwayMs)
    }
    expect(stays[0]).toBeGreaterThanOrEqual(1_000)
    expect(stays).toEqual([...stays].sort((a, b) => a - b))
    expect(stays[19]).toBeGreaterThan(stays[0]!)
    expect(Math.max(...stays)).toBeLessThanOrEqual(60_000)
  })

  test('of one owner leaves slots of the host for another', async () => {
    const slots = createSlots(sizes, () => 0)
    await enterSlot(slots)
    await enterSlot(slots)
    const other = await enterSlot(slots, 'other')
    expect(await slots.enter(by('third'))).toHaveProperty('stayAwayMs')
    other.leave()
    await enterSlot(slots, 'third')
  })

  test('of one account or environment leaves slots for others, whatever addresses it uses', async () => {
    const slots = createSlots({ own: 2, host: 3, account: 4, environment: 6 }, () => 0)
    const enter = (n: number, account: string, environment = 'sandbox') =>
      slots.enter({ own: `own ${String(n)}`, host: `host ${String(n)}`, account, environment })
    const hostile = await Promise.all(Array.from({ length: 10 }, (_, n) => enter(n, 'hostile')))
    expect(hostile.filter((place) => 'leave' in place)).toHaveLength(4)
    expect(await enter(10, 'honest')).toHaveProperty('leave')
    await enter(11, 'another')
    expect(await enter(12, 'fourth')).toHaveProperty('stayAwayMs')
    expect(await enter(13, 'fourth', 'production')).toHaveProperty('leave')
  })

  const by = (own: string) => ({ own, host: 'host', account: own, environment: 'sandbox' })

  async function enterSlot(slots: ReturnType<typeof createSlots>, own = 'own') {
    const place = await slots.enter(by(own))
    if ('stayAwayMs' in place) throw new Error('sent away')
    return place
  }
})
