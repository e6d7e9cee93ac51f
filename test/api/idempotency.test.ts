import { Idempotency, type IdempotentAsk, type Outcome } from '../../service/api/idempotency.ts'
import type { Id } from '../../service/kit/ids.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const LATER_MS = 2 ** 30
const plain = globalThis.setTimeout

describe('requests with idempotency keys at the same moment', () => {
  let database: TestDatabase
  let statements: string[]

  beforeAll(async () => {
    database = await testDatabase()
  })
  beforeEach(() => {
    statements = []
  })
  afterAll(async () => {
    await database.close()
  })

  test('share the statements that claim them and store their answers', async () => {
    const idempotency = anotherProcess()
    const keys = Array.from({ length: 20 }, (_, count) => `shared-${String(count)}`)
    const answers = await Promise.all(keys.map((key) => idempotency.once(request(key), answering(key))))
    expect(answers.map(({ body }) => body)).toEqual(keys)
    expect(statements).toEqual(['idempotency_claim', 'idempotency_record'])
    const later = await Promise.all(keys.map((key) => anotherProcess().once(request(key), answering('later'))))
    expect(later).toEqual(keys.map((key) => ({ status: 200, body: key, replayed: true })))
  })

  test('that end without an answer to store are given up in one statement', async () => {
    const idempotency = anotherProcess()
    const keys = Array.from({ length: 20 }, (_, count) => `given-up-${String(count)}`)
    const passing = () => Promise.resolve({ status: 200, body: 'passing', keep: false })
    await Promise.all(keys.map((key) => idempotency.once(request(key), passing)))
    expect(statements).toEqual(['idempotency_claim', 'idempotency_renew'])
    const later = await Promise.all(keys.map((key) => anotherProcess().once(request(key), answering('later'))))
    expect(later).toEqual(keys.map(() => ({ status: 200, body: 'later', replayed: false })))
    // None waited for a lease to expire.
    expect(statements).not.toContain('idempotency_find')
  })

  test('share no statement with a large answer', async () => {
    const idempotency = anotherProcess()
    const large = 'a'.repeat(100_000)
    const all = ['small', 'other', large].map((body, place) => {
      return idempotency.once(request(`large-${String(place)}`), answering(body))
    })
    expect((await Promise.all(all)).map(({ body }) => body)).toEqual(['small', 'other', large])
    expect(statements).toEqual(['idempotency_claim', ...Array<string>(2).fill('idempotency_record')])
  })

  test('of one key run once, and all get its answer', async () => {
    const idempotency = anotherProcess()
    const runs: Id<'op'>[] = []
    const work = (operation: Id<'op'>) => {
      runs.push(operation)
      return answering(operation)()
    }
    const answers = await Promise.all(Array.from({ length: 5 }, () => idempotency.once(request('one'), work)))
    expect(runs).toHaveLength(1)
    expect(answers.map(({ body }) => body)).toEqual(Array(5).fill(runs[0]))
  })

  test('of one key with two bodies are worked by the first body only', async () => {
    const idempotency = anotherProcess()
    const [first, second] = await Promise.allSettled([
      idempotency.once(request('bodies', 'first'), answering('first')),
      idempotency.once(request('bodies', 'second'), answering('second')),
    ])
    expect(first).toMatchObject({ status: 'fulfilled', value: { body: 'first' } })
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'idempotency_conflict' } })
  })

  test('run once where two processes get them in opposite orders', async () => {
    const processes = [anotherProcess(), anotherProcess()]
    const keys = Array.from({ length: 64 }, (_, count) => `ordered-${String(count)}`)
    const runs: string[] = []
    const all = processes.flatMap((idempotency, place) =>
      (place === 0 ? keys : keys.toReversed()).map((key) =>
        idempotency.once(request(key), () => {
          runs.push(key)
          return answering(key)()
        }),
      ),
    )
    await Promise.all(all)
    expect(runs.toSorted()).toEqual(keys.toSorted())
  })

  test('are new operations only where nothing was begun under their key', async () => {
    const begun: [Id<'op'>, boolean][] = []
    const failing = (operation: Id<'op'>, mayHaveBegun: boolean) => {
      begun.push([operation, mayHaveBegun])
      return Promise.reject(new Error('the process died'))
    }
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(anotherProcess().once(request('begun'), failing)).rejects.toThrow('the process died')
    }
    const operation = await anotherProcess().operationOf(request('asked-before'))
    await expect(anotherProcess().once(request('asked-before'), failing)).rejects.toThrow('the process died')
    expect(begun.map(([, mayHaveBegun]) => mayHaveBegun)).toEqual([false, true, true])
    expect(begun[1]?.[0]).toBe(begun[0]?.[0])
    expect(begun[2]?.[0]).toBe(operation)
  })

  test('keep their answers where the answer of another one cannot be stored', async () => {
    const idempotency = anotherProcess()
    const [stored, unstored] = await Promise.allSettled([
      idempotency.once(request('stored'), answering('stored')),
      idempotency.once(request('unstored'), answering(1n)),
    ])
    expect([stored.status, unstored.status]).toEqual(['fulfilled', 'rejected'])
    const later = await anotherProcess().once(request('stored'), answering('later'))
    expect(later).toMatchObject({ body: 'stored', replayed: true })
  })

  function anotherProcess(): Idempotency {
    const run: TestDatabase['statements']['run'] = (text, values, name = '') => {
      statements.push(name)
      return database.statements.run(text, values, name)
    }
    return new Idempotency({ run }, new TestClock())
  }
})

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
    const first = asked.once(request('waited-for'), work)
    while (works === 0) await new Promise(setImmediate)
    const others = Array.from({ length: 20 }, () => asked.once(request('waited-for'), work))
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
    const all = await Promise.all(Array.from({ length: 8 }, () => asked.once(request('tried-again'), work)))
    expect(all).toEqual(all.map(() => ({ status: 503, body: {}, replayed: false })))
    expect([operations.length, new Set(operations).size, most]).toEqual([8, 1, 1])
    expect(waiting()).toBe(0)
  })

  function waiting(): number {
    const lines = Reflect.get(asked, 'waiting') as ReadonlyMap<string, readonly unknown[]>
    return [...lines.values()].reduce((sum, line) => sum + line.length, 0)
  }

  async function untilWaiting(count: number): Promise<void> {
    while (waiting() < count) await new Promise(setImmediate)
  }
})

function request(key: string, body: unknown = null): IdempotentAsk {
  return { key, body, account: 'usr_one', environment: 'sandbox', method: 'POST', path: '/things' }
}

function answering(body: unknown) {
  return () => Promise.resolve({ status: 200, body, keep: true })
}
