import { usdc, ZERO } from '../../../service/kit/money.ts'
import { idLike } from '../../../service/kit/ids.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestClock } from '../../harness/clock.ts'
import { askFor, assetOf, callerOf, createEngine, fund, operation, perRun, type Engine } from './engine.ts'

describe('runs that are left behind', () => {
  let database: TestDatabase
  const clock = new TestClock()
  const asset = assetOf('rda_one', 'usr_creator', perRun(usdc(500n)))
  const owner = { userId: 'usr_caller', environment: 'sandbox' as const }
  /** Executions wait until they are let go; told of their cancellation by the signal. */
  const letGo: (() => void)[] = []
  const signals: AbortSignal[] = []

  function engine(): Engine {
    const executor = {
      execute: (_: unknown, signal: AbortSignal) =>
        new Promise<{ output: string; usage: null }>((resolve) => {
          signals.push(signal)
          letGo.push(() => resolve({ output: 'late', usage: null }))
        }),
    }
    return createEngine(database.statements, { executor, asset: () => asset, clock })
  }

  async function begun({ runs }: Engine) {
    const name = operation()
    const before = letGo.length
    const end = runs.run(callerOf('usr_caller'), askFor('rda_one'), name, false)
    while (letGo.length === before) await new Promise(setImmediate)
    return { id: idLike('run', name), end }
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

  test('a process that falls silent loses its runs; if it was only slow, it charges nothing and nothing leaves it', async () => {
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

  test("the ledger's own sweeper may come first: the late capture is refused and the run says so", async () => {
    const { runs, ledger } = engine()
    const { id, end } = await begun({ runs, ledger })
    clock.forward(3_600_000)
    expect(await ledger.sweep()).toBe(1)
    letGo.at(-1)!()
    expect(await end).toMatchObject({ id, state: 'failed', output: null, cost: 0n, failure: { code: 'run_expired' } })
    expect((await ledger.wallet(owner))?.funds).toMatchObject({ locked: 0n, spent: 0n })
    await runs.stop()
  })

  test('a cancel in another process stops the work here', async () => {
    const [here, there] = [engine(), engine()]
    const { id, end } = await begun(here)
    const signal = signals.at(-1)!
    expect(await there.runs.cancel(callerOf('usr_caller'), id)).toMatchObject({ state: 'canceled' })
    expect(await end).toMatchObject({ id, state: 'canceled', cost: 0n })
    expect(signal.aborted).toBe(true)
    await Promise.all([here.runs.stop(), there.runs.stop()])
  })

  test('a queued prompt of a process that stops goes to another one, with its lock', async () => {
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
    await one.runs.queue(callerOf('usr_caller'), { ...askFor('rda_one'), waits: true }, name, false)
    const id = idLike('run', name)
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

  test('a process that stops ends its runs unpaid, at once', async () => {
    const one = engine()
    const { id, end } = await begun(one)
    await one.runs.stop()
    expect(await end).toMatchObject({ id, state: 'failed', cost: 0n, failure: { code: 'run_interrupted' } })
    expect(await one.ledger.differences()).toEqual([])
    expect((await one.ledger.wallet(owner))?.locks).toEqual([])
  })
})
