import { DomainError } from '../../../service/kit/errors.ts'
import { usdc } from '../../../service/kit/money.ts'
import type { Executor } from '../../../service/marketplace/ports/run.ts'
import { TestClock } from '../../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { askFor, assetOf, callerOf, createEngine, fund, operation, perRun } from './engine.ts'

describe('places for executions', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(async () => {
    await database.close()
  })

  test('are taken by callers with money only, held until the end, and free of charge when full', async () => {
    let places = 1
    const entered: string[] = []
    const enterAs = (name: string) => () => {
      if (places === 0) throw new DomainError('unavailable', 'provider_busy', 'Busy.')
      places--
      entered.push(name)
      return () => {
        places++
      }
    }
    let letGo: () => void = () => undefined
    const begun = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const asset = assetOf('rda_one', 'usr_creator', perRun(usdc(500n)))
    const executor = { execute: () => begun.then(() => ({ output: 'done', usage: null })) }
    const { runs, ledger } = createEngine(database.statements, { executor, asset: () => asset })
    const accounts = { usr_poor: 499n, usr_caller: 1_000n, usr_other: 500n, usr_creator: 0n }
    for (const [id, amount] of Object.entries(accounts)) await fund(ledger, id, amount)
    const run = (id: string, name = operation(), keyed = false) =>
      runs.run(callerOf(id), askFor('rda_one'), { operation: name, keyed, enter: enterAs(id) })

    await expect(run('usr_poor')).rejects.toMatchObject({ code: 'insufficient_balance' })
    expect([places, entered]).toEqual([1, []])
    const first = run('usr_caller')
    while (places > 0) await new Promise(setImmediate)
    const name = operation()
    await expect(run('usr_other', name, true)).rejects.toMatchObject({ code: 'provider_busy' })
    const other = { userId: 'usr_other', environment: 'sandbox' as const }
    expect((await ledger.wallet(other))?.funds).toMatchObject({ available: 500n, locked: 0n })
    letGo()
    expect(await first).toMatchObject({ state: 'succeeded' })
    // The same call succeeds once a slot is free.
    expect(await run('usr_other', name, true)).toMatchObject({ state: 'succeeded', cost: 500n })
    expect(await run('usr_other', name, true)).toMatchObject({ state: 'succeeded', cost: 500n })
    expect([places, entered]).toEqual([1, ['usr_caller', 'usr_other']])
    await runs.stop()
  })
})

describe("a tool's calls a minute", () => {
  let database: TestDatabase
  const clock = new TestClock()
  const asset = assetOf('rda_limited', 'usr_creator', perRun(usdc(500n)), 4)
  const asked: string[] = []
  const executor: Executor = {
    execute({ runId }) {
      asked.push(runId)
      return Promise.resolve({ output: 'done', usage: null })
    },
  }

  beforeAll(async () => {
    database = await testDatabase()
  })
  beforeEach(() => {
    asked.length = 0
    clock.forward(3_600_000)
  })
  afterAll(async () => {
    await database.close()
  })

  test('are not used up by a request that finds its run begun by another process', async () => {
    const { runs, ledger } = createEngine(database.statements, { executor, asset: () => asset, clock })
    await fund(ledger, 'usr_twice', 10_000n)
    await fund(ledger, 'usr_creator', 0n)
    const run = (name = operation()) =>
      runs.run(callerOf('usr_twice'), askFor('rda_limited'), { operation: name, keyed: false })
    const name = operation()
    const first = await run(name)
    expect((await run(name)).id).toBe(first.id)
    expect(await run()).toMatchObject({ state: 'succeeded' })
    await expect(run()).rejects.toMatchObject({ code: 'rda_rate_limited' })
    expect(asked).toHaveLength(2)
    await runs.stop()
  })

  test('give a failed run its money back, also where the call cannot be given back', async () => {
    const giveBack = () => Promise.reject(new Error('the database is away'))
    const { runs, ledger } = createEngine(database.statements, {
      executor: { execute: () => Promise.reject(new Error('before it was called')) },
      asset: () => asset,
      throttle: { take: () => Promise.resolve({ giveBack }) },
      clock,
    })
    await fund(ledger, 'usr_failed', 500n)
    const run = await runs.run(callerOf('usr_failed'), askFor('rda_limited'), { operation: operation(), keyed: false })
    expect(run).toMatchObject({ state: 'failed', cost: 0n })
    const wallet = await ledger.wallet({ userId: 'usr_failed', environment: 'sandbox' })
    expect(wallet?.funds).toMatchObject({ available: 500n, locked: 0n })
    await runs.stop()
  })

  test('keep a queued run waiting with its money held, until it is called or ends unpaid at its deadline', async () => {
    const { runs, ledger } = createEngine(database.statements, { executor, asset: () => asset, clock })
    const caller = callerOf('usr_queues')
    await fund(ledger, 'usr_queues', 10_000n)
    const queue = () => runs.queue(caller, askFor('rda_limited'), { operation: operation(), keyed: false })
    const queued = [await queue(), await queue(), await queue(), await queue()]
    const work = () => Promise.all(queued.map(({ id }) => runs.work(id, new AbortController().signal)))
    const states = async () =>
      (await Promise.all(queued.map(({ id }) => runs.get(caller, id)))).map(({ state }) => state).sort()
    const funds = async () => (await ledger.wallet({ userId: 'usr_queues', environment: 'sandbox' }))?.funds
    await work()
    expect(await states()).toEqual(['queued', 'queued', 'succeeded', 'succeeded'])
    expect(await funds()).toMatchObject({ available: 8_000n, locked: 1_000n })
    const due = await database.statements.run<{ at: Date }>(`SELECT due_at AS at FROM outbox WHERE due_at > $1`, [
      clock.now(),
    ])
    expect(due).toHaveLength(2)
    for (const { at } of due) expect(at.getTime() - clock.now().getTime()).toBeLessThanOrEqual(60_000)
    clock.forward(3_600_000)
    await work()
    expect(await states()).toEqual(['failed', 'failed', 'succeeded', 'succeeded'])
    expect(await funds()).toMatchObject({ available: 9_000n, locked: 0n })
    expect(asked).toHaveLength(2)
    await runs.stop()
  })
})

describe('500 runs at once on one wallet that can pay for 300', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(async () => {
    await database.close()
  })

  test('exactly 300 are executed and charged, also over two processes', async () => {
    const price = 20_000n
    const asset = assetOf('rda_one', 'usr_creator', perRun(usdc(price)))
    let executed = 0
    const executor = {
      async execute() {
        executed++
        await new Promise(setImmediate)
        return { output: 'done', usage: null }
      },
    }
    const engines = [1, 2].map(() => createEngine(database.statements, { executor, asset: () => asset }))
    const [{ ledger }] = engines as [(typeof engines)[0], (typeof engines)[0]]
    await fund(ledger, 'usr_caller', 300n * price)
    await fund(ledger, 'usr_creator', 0n)

    // Once half of them have begun no lock is given back any more that was not charged, so 300 it is.
    const outcomes = await Promise.allSettled(
      Array.from({ length: 500 }, (_, place) =>
        engines[place % 2]!.runs.run(callerOf('usr_caller'), askFor('rda_one'), {
          operation: operation(),
          keyed: false,
        }),
      ),
    )
    const done = outcomes.filter((one) => one.status === 'fulfilled')
    const refused = outcomes.filter((one) => one.status === 'rejected')
    expect(done).toHaveLength(300)
    expect(executed).toBe(300)
    expect(new Set(refused.map(({ reason }) => String((reason as { code?: string }).code)))).toEqual(
      new Set(['insufficient_balance']),
    )
    const owner = { userId: 'usr_caller', environment: 'sandbox' as const }
    expect((await ledger.wallet(owner))?.funds).toMatchObject({ available: 0n, locked: 0n, spent: 300n * price })
    const creator = await ledger.wallet({ ...owner, userId: 'usr_creator' })
    expect(creator?.funds.available).toBe(300n * price)
    const rows = await database.statements.run<{ status: string; count: bigint }>(
      'SELECT status, count(*) AS count FROM run GROUP BY status',
      [],
    )
    expect(rows).toEqual([{ status: 'succeeded', count: 300n }])
    expect(await ledger.differences()).toEqual([])
    for (const { runs } of engines) await runs.stop()
  })
})
