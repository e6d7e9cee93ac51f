import { PACE, type Sweeper } from '../../service/queue/model.ts'
import { createSweepers, type Sweepers } from '../../service/queue/sweepers.ts'
import { door } from './numbers.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { Hands, quiet, Tally } from './tally.ts'

describe('the sweepers', () => {
  let database: TestDatabase
  let clock: Hands
  let tally: Tally
  let runs: string[]

  beforeAll(async () => {
    database = await testDatabase()
  })

  beforeEach(async () => {
    await database.pool.query('TRUNCATE lease')
    clock = new Hands()
    tally = new Tally()
    runs = []
  })

  afterAll(() => database.close())

  it('run in one process of many', async () => {
    const all = ['a', 'b', 'c'].map((process) => member(process))
    const leads = await Promise.all(all.map((sweepers) => sweepers.tick()))
    expect(leads.filter(Boolean)).toHaveLength(1)
    await tally.until(() => runs.length === 1)
    clock.turn(1_000)
    expect(await Promise.all(all.map((sweepers) => sweepers.tick()))).toEqual(leads)
    await tally.until(() => runs.length === 2)
    expect(new Set(runs).size).toBe(1)
  })

  it('continue in another process within seconds when the leader is silent', async () => {
    const [one, two] = [member('one'), member('two')]
    expect(await one.tick()).toBe(true)
    clock.turn(PACE.leaderMs - 1)
    expect(await two.tick()).toBe(false)
    clock.turn(1)
    expect(await two.tick()).toBe(true)
    // The old leader was only slow: it finds out and follows.
    expect(await one.tick()).toBe(false)
    await tally.until(() => runs.length === 2)
    expect(runs).toEqual(['one', 'two'])
  })

  it('continue in another process at once when the leader stops in order', async () => {
    const [one, two] = [member('one'), member('two')]
    await one.tick()
    expect(await two.tick()).toBe(false)
    await one.stop(AbortSignal.timeout(1_000))
    expect(await two.tick()).toBe(true)
  })

  it('stop a run when the lead is lost, and never overlap with themselves', async () => {
    const gate = door()
    let began = 0
    let signal: AbortSignal | undefined
    const long: Sweeper = {
      name: 'long',
      everyMs: 1_000,
      run: async (_now, passed) => {
        began++
        signal = passed
        await gate.opened
      },
    }
    const one = member('one', [long])
    await one.tick()
    clock.turn(4_000)
    await one.tick()
    expect(began).toBe(1)
    expect(signal?.aborted).toBe(false)
    clock.turn(PACE.leaderMs)
    await member('two').tick()
    await one.tick()
    expect(signal?.aborted).toBe(true)
    gate.open()
  })

  it('keep their interval; a failing one is repeated and delays no other', async () => {
    const failing: Sweeper = { name: 'failing', everyMs: 2_000, run: () => Promise.reject(new Error('no')) }
    const counts = { true: 0, false: 0 }
    tally.swept = (_name?: string, succeeded?: boolean) => {
      counts[succeeded === true ? 'true' : 'false']++
      tally.look()
    }
    const one = member('one', [failing, broom('one')])
    for (let second = 1; second <= 4; second++) {
      await one.tick()
      await tally.until(() => counts.true === second && counts.false === Math.ceil(second / 2))
      clock.turn(1_000)
    }
    expect(counts).toEqual({ true: 4, false: 2 })
  })

  function member(process: string, sweepers: Sweeper[] = [broom(process)]): Sweepers {
    return createSweepers({ statements: database.statements, clock, log: quiet, pace: PACE, sweepers, measures: tally })
  }

  function broom(process: string): Sweeper {
    return {
      name: 'broom',
      everyMs: 1_000,
      run: () => {
        runs.push(process)
        return Promise.resolve()
      },
    }
  }
})
