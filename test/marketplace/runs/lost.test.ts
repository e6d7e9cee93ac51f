import type { Departure } from '../../../service/kit/departure.ts'
import type { Work } from '../../../service/marketplace/ports/run.ts'
import { usdc, ZERO } from '../../../service/kit/money.ts'
import { deriveId, type Id } from '../../../service/kit/ids.ts'
import type { StatementPool } from '../../../service/kit/transaction.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestClock } from '../../harness/clock.ts'
import { askFor, assetOf, callerOf, createEngine, fund, operation, perRun, type Engine } from './engine.ts'

describe('runs that are left behind', () => {
  let database: TestDatabase
  const clock = new TestClock()
  const asset = assetOf('rda_one', 'usr_creator', perRun(usdc(500n)))
  const owner = { userId: 'usr_caller', environment: 'sandbox' as const }
  /** Executions wait until they are released; the signal tells them of a cancellation. */
  const letGo: (() => void)[] = []
  const signals: AbortSignal[] = []
  const departures: Departure[] = []

  function engine(): Engine {
    const executor = {
      execute: ({ departure }: Pick<Work, 'departure'>, signal: AbortSignal) =>
        new Promise<{ output: string; usage: null }>((resolve) => {
          signals.push(signal)
          departures.push(departure)
          letGo.push(() => resolve({ output: 'late', usage: null }))
        }),
    }
    return createEngine(database.statements, { executor, asset: () => asset, clock })
  }

  async function begun({ runs }: Engine) {
    const name = operation()
    const before = letGo.length
    const end = runs.run(callerOf('usr_caller'), askFor('rda_one'), { operation: name, keyed: false })
    while (letGo.length === before) await new Promise(setImmediate)
    return { id: deriveId('run', name), end }
  }

  beforeAll(async () => {
    database = await testDatabase()
    const { ledger } = engine()
    await fund(ledger, 'usr_caller', 10_000n)
    await fund(ledger, 'usr_creator', 0n)
  })
  afterAll(async () => {
    await database.close()
  })

  test('of a silent process end unpaid, also when it was only slow', async () => {
    const [silent, other] = [engine(), engine()]
    const { id, end } = await begun(silent)
    expect(await other.runs.sweepLost(clock.now())).toBe(0)
    await database.statements.run("UPDATE lease SET until = now() - interval '1 hour' WHERE name LIKE 'runs.%'", [])
    expect(await other.runs.sweepLost(clock.now())).toBe(1)
    expect((await other.ledger.wallet(owner))?.funds).toMatchObject({ locked: 0n, spent: 0n })
    letGo.at(-1)!()
    const run = await end
    expect(run).toMatchObject({ id, state: 'failed', output: null, cost: 0n, failure: { code: 'run_interrupted' } })
    await silent.runs.stop()
    await other.runs.stop()
  })

  test("fail as expired when the ledger's sweeper releases their hold first", async () => {
    const { runs, ledger } = engine()
    const { id, end } = await begun({ runs, ledger })
    clock.forward(3_600_000)
    expect(await ledger.sweep()).toBe(1)
    letGo.at(-1)!()
    expect(await end).toMatchObject({ id, state: 'failed', output: null, cost: 0n, failure: { code: 'run_expired' } })
    expect((await ledger.wallet(owner))?.funds).toMatchObject({ locked: 0n, spent: 0n })
    await runs.stop()
  })

  test('a cancel before the request has left is free, and the request never leaves', async () => {
    const { runs, ledger } = engine()
    const { id, end } = await begun({ runs, ledger })
    const departure = departures.at(-1)!
    expect(await runs.cancel(callerOf('usr_caller'), id)).toMatchObject({ state: 'canceled', cost: 0n })
    expect(await end).toMatchObject({ id, state: 'canceled', cost: 0n })
    expect(signals.at(-1)!.aborted).toBe(true)
    expect(() => {
      departure.leave()
    }).toThrow()
    expect((await ledger.wallet(owner))?.funds.locked).toBe(0n)
    await runs.stop()
  })

  test.each(['here', 'there'])('a cancel made %s after the request has left changes nothing', async (where) => {
    const processes = { here: engine(), there: engine() }
    const { id, end } = await begun(processes.here)
    departures.at(-1)!.leave()
    const canceler = processes[where as 'here' | 'there'].runs
    expect(await canceler.cancel(callerOf('usr_caller'), id)).toMatchObject({ state: 'running' })
    letGo.at(-1)!()
    expect(await end).toMatchObject({ id, state: 'succeeded', cost: 500n })
    await Promise.all([processes.here.runs.stop(), processes.there.runs.stop()])
  })

  test('a queued run is either canceled and never begun, or begun and charged', async () => {
    const processes = [engine(), engine()]
    for (let round = 0; round < 8; round++) {
      const name = operation()
      const id = deriveId('run', name)
      const begunBefore = letGo.length
      await processes[0]!.runs.queue(callerOf('usr_caller'), askFor('rda_one'), { operation: name, keyed: false })
      const work = processes.map(({ runs }) => runs.work(id, new AbortController().signal))
      const canceled = await processes[round % 2]!.runs.cancel(callerOf('usr_caller'), id).catch(() => null)
      const letAll = setInterval(() => {
        for (const release of letGo.slice(begunBefore)) release()
      }, 5)
      await Promise.all(work)
      clearInterval(letAll)
      const ended = await processes[0]!.runs.get(callerOf('usr_caller'), id)
      if (canceled?.state === 'canceled') expect(ended).toMatchObject({ state: 'canceled', cost: 0n })
      else expect(ended).toMatchObject({ state: 'succeeded', cost: 500n })
    }
    expect((await processes[0]!.ledger.wallet(owner))?.funds.locked).toBe(0n)
    await Promise.all(processes.map(({ runs }) => runs.stop()))
  })

  test('a queued prompt of a stopping process moves to another one, with its hold', async () => {
    const prompt = {
      ...asset,
      type: 'prompt' as const,
      content: {
        ...asset.content,
        config: {
          type: 'prompt' as const,
          promptTemplate: 'x',
          systemPrompt: null,
          allowedModels: ['m'],
          defaultModelId: 'm',
          sourcePrice: null,
          examples: [],
        },
      },
    }
    const executions: AbortSignal[] = []
    const executor = {
      execute: (_: unknown, signal: AbortSignal) => {
        executions.push(signal)
        if (executions.length > 1) return Promise.resolve({ output: 'from the other', usage: null })
        return new Promise<never>(() => undefined)
      },
    }
    const model = { id: 'm', name: 'M', tier: 'fast' as const, inputPrice: ZERO, outputPrice: ZERO, outputTokensMax: 1 }
    const [one, other] = [1, 2].map(() =>
      createEngine(database.statements, { executor, asset: () => prompt, clock, model }),
    ) as [Engine, Engine]
    const name = operation()
    await one.runs.queue(
      callerOf('usr_caller'),
      { ...askFor('rda_one'), background: true },
      { operation: name, keyed: false },
    )
    const id = deriveId('run', name)
    const stop = new AbortController()
    const working = one.runs.work(id, stop.signal)
    while (executions.length === 0) await new Promise(setImmediate)
    stop.abort(new Error('the process is stopping'))
    await expect(working).rejects.toThrow('stopping')
    expect((await other.ledger.wallet(owner))?.locks).toEqual([{ id, amount: 500n }])
    await other.runs.work(id, new AbortController().signal)
    const run = await other.runs.get(callerOf('usr_caller'), id)
    expect(run).toMatchObject({ state: 'succeeded', output: 'from the other', cost: 500n })
    await Promise.all([one.runs.stop(), other.runs.stop()])
  })

  test('of a stopping process end unpaid at once', async () => {
    const one = engine()
    const { id, end } = await begun(one)
    await one.runs.stop()
    expect(await end).toMatchObject({ id, state: 'failed', cost: 0n, failure: { code: 'run_interrupted' } })
    expect(await one.ledger.differences()).toEqual([])
    expect((await one.ledger.wallet(owner))?.locks).toEqual([])
  })

  test('of a process that stood still are safe as soon as it claims them', async () => {
    const [halted, other] = [engine(), engine()]
    const first = await begun(halted)
    letGo.at(-1)!()
    await first.end
    // Longer than its lease, and its timers have not run since: a computer that was put to sleep.
    clock.forward(61_000)
    const second = await begun(halted)
    expect(await other.runs.sweepLost(clock.now())).toBe(0)
    letGo.at(-1)!()
    expect(await second.end).toMatchObject({ state: 'succeeded' })
    await halted.runs.stop()
    await other.runs.stop()
  })
})

/** Loses the responses to committed statements, as many as requested. */
function losing(statements: StatementPool) {
  const lost = new Map<string, number>()
  const after = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const result = await work()
    const left = lost.get(name) ?? 0
    if (left === 0) return result
    lost.set(name, left - 1)
    throw new Error('Connection terminated unexpectedly')
  }
  const pool: StatementPool = {
    run: <Row>(text: string, values: readonly unknown[], name?: string) =>
      after(name ?? '', () => statements.run<Row>(text, values, name)),
    together: (work) => after('together', () => statements.together(work)),
  }
  return { pool, lose: (name: string, times = 1) => lost.set(name, times) }
}

describe('claims whose answer is lost', () => {
  let database: TestDatabase
  let faults: ReturnType<typeof losing>
  let engines: Engine[]
  let executions = 0
  const clock = new TestClock()
  const caller = callerOf('usr_caller')
  const asset = assetOf('rda_one', 'usr_creator', perRun(usdc(500n)))
  const executor = {
    execute: () => {
      executions++
      return Promise.resolve({ output: 'done', usage: null })
    },
  }

  beforeAll(async () => {
    database = await testDatabase()
    faults = losing(database.statements)
    engines = [faults.pool, database.statements].map((statements) =>
      createEngine(statements, { executor, asset: () => asset, clock }),
    )
    await fund(engines[1]!.ledger, 'usr_caller', 10_000n)
    await fund(engines[1]!.ledger, 'usr_creator', 0n)
  })
  beforeEach(() => {
    executions = 0
  })
  afterEach(async () => {
    expect((await engines[1]!.ledger.wallet({ userId: 'usr_caller', environment: 'sandbox' }))?.locks).toEqual([])
    expect(await engines[1]!.ledger.differences()).toEqual([])
  })
  afterAll(async () => {
    await Promise.all(engines.map(({ runs }) => runs.stop()))
    await database.close()
  })

  async function queued() {
    const [one] = engines
    const name = operation()
    await one!.runs.queue(caller, { ...askFor('rda_one'), background: true }, { operation: name, keyed: false })
    return deriveId('run', name)
  }

  async function ended(id: Id<'run'>) {
    for (;;) {
      const run = await engines[1]!.runs.get(caller, id)
      if (run.endedAt !== null) return run
      await new Promise(setImmediate)
    }
  }

  test('a background run is executed once, also when another process gets its announcement', async () => {
    const [one, other] = engines as [Engine, Engine]
    const id = await queued()
    faults.lose('run_claim')
    await expect(one.runs.work(id, new AbortController().signal)).rejects.toThrow('terminated')
    // The queue retries it in another process, which takes it for another process's run.
    await other.runs.work(id, new AbortController().signal)
    expect(await other.runs.get(caller, id)).toMatchObject({ state: 'running' })
    await one.runs.resolveUnanswered()
    expect(await ended(id)).toMatchObject({ state: 'succeeded', cost: 500n })
    await one.runs.resolveUnanswered()
    expect(executions).toBe(1)
  })

  test('a run announced again while its lost claim is resolved is executed once', async () => {
    const [one] = engines as [Engine]
    const id = await queued()
    faults.lose('run_claim')
    await expect(one.runs.work(id, new AbortController().signal)).rejects.toThrow('terminated')
    await Promise.all([one.runs.resolveUnanswered(), one.runs.work(id, new AbortController().signal)])
    expect(await ended(id)).toMatchObject({ state: 'succeeded', cost: 500n })
    expect(executions).toBe(1)
  })

  test('a run whose caller got an error ends unpaid', async () => {
    const [one] = engines as [Engine]
    const name = operation()
    faults.lose('together')
    await expect(one.runs.run(caller, askFor('rda_one'), { operation: name, keyed: false })).rejects.toThrow(
      'terminated',
    )
    expect(await one.runs.get(caller, deriveId('run', name))).toMatchObject({ state: 'running' })
    await one.runs.resolveUnanswered()
    const failure = { code: 'run_interrupted' }
    expect(await ended(deriveId('run', name))).toMatchObject({ state: 'failed', cost: 0n, failure })
    expect(executions).toBe(0)
  })

  test('a cancel whose answer was lost is completed later, or by the next cancel', async () => {
    const [one] = engines as [Engine]
    const [looked, again] = [await queued(), await queued()]
    for (const id of [looked, again]) {
      faults.lose('run_claim')
      await expect(one.runs.cancel(caller, id)).rejects.toThrow('terminated')
    }
    expect(await one.runs.cancel(caller, again)).toMatchObject({ state: 'canceled', cost: 0n })
    await one.runs.resolveUnanswered()
    expect(await ended(looked)).toMatchObject({ state: 'canceled', cost: 0n })
    expect(executions).toBe(0)
  })
})
