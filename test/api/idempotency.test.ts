import { Idempotency, type IdempotentAsk } from '../../service/api/idempotency.ts'
import type { Id } from '../../service/kit/ids.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

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

function request(key: string, body: unknown = null): IdempotentAsk {
  return { key, body, account: 'usr_one', environment: 'sandbox', method: 'POST', path: '/things' }
}

function answering(body: unknown) {
  return () => Promise.resolve({ status: 200, body, keep: true })
}
