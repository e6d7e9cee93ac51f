import { Idempotency, type Outcome } from '../../service/api/idempotency.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const ASK = { key: 'one', account: 'usr_1', environment: 'sandbox', method: 'POST', path: '/v1/run', body: { a: 1 } }
const LATER_MS = 2 ** 30
const plain = globalThis.setTimeout

describe('requests of one process with one key', () => {
  let database: TestDatabase
  let asked: Idempotency
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())
  beforeEach(() => {
    asked = new Idempotency(database.statements, new TestClock())
    // No pause ends by itself.
    globalThis.setTimeout = ((work: () => void, ms = 0) => plain(work, ms < 25 ? ms : LATER_MS)) as typeof setTimeout
  })
  afterEach(() => {
    globalThis.setTimeout = plain
  })

  test('are all answered by the end of the first one, and leave nothing behind', async () => {
    let works = 0
    let end = (): void => undefined
    const isEnded = new Promise<void>((resolve) => (end = resolve))
    const work = async (): Promise<Outcome> => {
      works++
      await isEnded
      return { status: 200, body: { works }, keep: true }
    }
    const first = asked.once(ASK, work)
    while (works === 0) await new Promise(setImmediate)
    const others = Array.from({ length: 20 }, () => asked.once(ASK, work))
    await untilWaiting(20)
    end()
    expect(await first).toEqual({ status: 200, body: { works: 1 }, replayed: false })
    expect(await Promise.all(others)).toEqual(others.map(() => ({ status: 200, body: { works: 1 }, replayed: true })))
    expect(waiting()).toBe(0)
  })

  test('are tried one after the other where each one ends without an answer that is kept', async () => {
    const operations: string[] = []
    let [begun, most] = [0, 0]
    const work = async (operation: string): Promise<Outcome> => {
      operations.push(operation)
      most = Math.max(most, ++begun)
      // The others get their turn to begin too early.
      if (operations.length === 1) await untilWaiting(7)
      await new Promise(setImmediate)
      begun--
      return { status: 503, body: {}, keep: false }
    }
    const ask = { ...ASK, key: 'two' }
    const all = await Promise.all(Array.from({ length: 8 }, () => asked.once(ask, work)))
    expect(all).toEqual(all.map(() => ({ status: 503, body: {}, replayed: false })))
    expect([operations.length, new Set(operations).size, most]).toEqual([8, 1, 1])
    expect(waiting()).toBe(0)
  })

  function waiting(): number {
    const lines = asked['waiting'] as ReadonlyMap<string, readonly unknown[]>
    return [...lines.values()].reduce((sum, line) => sum + line.length, 0)
  }

  async function untilWaiting(count: number): Promise<void> {
    while (waiting() < count) await new Promise(setImmediate)
  }
})
