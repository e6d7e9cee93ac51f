import fc from 'fast-check'
import { DomainError } from '../../service/kit/errors.ts'
import { deriveId, type Id } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { ExecutionFailed } from '../../service/marketplace/errors.ts'
import type { Run } from '../../service/marketplace/model/run.ts'
import type { Executor } from '../../service/marketplace/ports/run.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { generator } from '../harness/random.ts'
import {
  askFor,
  assetOf,
  callerOf,
  createEngine,
  fund,
  operation,
  perRun,
  type Engine,
} from '../marketplace/runs/engine.ts'
import { crashing } from './crashes.ts'
import { history, type Plan } from './runs-history.ts'

const HISTORIES = 300
const TOGETHER = 60
const CRASH_RATE = 0.01
const FUNDS = 8_000_000n
const SEED = Number(process.env['SEED'] ?? 20_261_121)

describe('any interleaving of runs, failures, cancels, sweeps and crashes', () => {
  let database: TestDatabase
  let calm: Engine
  let engines: Engine[]
  let statements: ReturnType<typeof crashing>
  let people = 0
  const problems: string[] = []
  const plans = new Map<string, Plan & { creator: string }>()
  const started = new Map<string, () => void>()
  const executions = new Map<string, number>()
  const interrupted: Run[] = []

  const executor: Executor = {
    async execute({ runId, asset }, signal) {
      const plan = plans.get(asset.id)!
      executions.set(runId, (executions.get(runId) ?? 0) + 1)
      started.get(runId)?.()
      switch (plan.execution) {
        case 'succeeds':
          return { output: `output of ${runId}`, usage: null }
        case 'fails':
          throw new ExecutionFailed('tool_refused', 'The tool answered with the status 500.')
        case 'breaks':
          throw new Error('a fault of ours')
        case 'is canceled':
          return await new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          })
        case 'is swept':
        case 'dies':
          // The output arrives late: by then the run's hold has been released.
          await sweepNow(runId)
          return { output: `late output of ${runId}`, usage: null }
      }
    },
  }

  function assetFor(id: string) {
    const { price, creator } = plans.get(id)!
    return assetOf(id, creator, perRun(usdc(price)))
  }

  /** As at its deadline, or when its process has fallen silent. */
  async function sweepNow(runId: string): Promise<void> {
    const past = new Date('2000-01-01T00:00:00.000Z')
    await database.statements.run('UPDATE run SET deadline = $2 WHERE id = $1', [runId, past])
    await calm.runs.sweepLost(new Date('2001-01-01T00:00:00.000Z'))
  }

  beforeAll(async () => {
    database = await testDatabase()
    calm = createEngine(database.statements, {
      executor,
      asset: assetFor,
      onError: (fields, text) => problems.push(`${text}: ${String(fields['err'])}`),
    })
    statements = crashing(database.pool, CRASH_RATE, generator(SEED))
    engines = [1, 2].map(() => createEngine(statements, { executor, asset: assetFor, feeBps: 1_000 }))
    await fund(calm.ledger, 'usr_other', 0n)
  })

  afterAll(async () => {
    await Promise.all([calm, ...engines].map(({ runs }) => runs.stop().catch(() => undefined)))
    await database.close()
  })

  test('charges no run without a result, leaves no hold, and keeps the postings at zero', async () => {
    await fc.assert(fc.asyncProperty(fc.array(history, { minLength: TOGETHER, maxLength: TOGETHER }), actTogether), {
      numRuns: HISTORIES / TOGETHER,
      endOnFailure: true,
      seed: SEED,
      // The histories themselves are pages long: the seed reproduces them.
      // oxlint-disable-next-line typescript/no-deprecated -- a plugin would report beside the default reporter
      reporter({ failed, seed, counterexamplePath, errorInstance }) {
        if (failed) throw new Error(`seed ${seed}, path ${String(counterexamplePath)}`, { cause: errorInstance })
      },
    })
    expect(people).toBe(HISTORIES)
    expect(problems).toEqual([])
    // These runs were claimed or ended by a statement whose response was lost, and given up at the next heartbeat.
    expect(interrupted.filter(({ failure }) => failure?.code !== 'run_interrupted')).toEqual([])
    expect(interrupted.length).toBeLessThan(HISTORIES / 20)
    expect(statements.crashes).toBeGreaterThan(100)
    expect(await calm.ledger.differences()).toEqual([])
    // The row and the hold agree for every run that was ever accepted.
    expect(
      await database.statements.run(
        `SELECT r.id, r.status, r.cost, h.state, h.captured FROM run r FULL JOIN ledger_hold h ON h.id = r.id
         WHERE r.id IS NULL OR h.id IS NULL OR (r.status = 'succeeded') <> (h.state = 'captured') OR r.cost <> h.captured
            OR r.status IN ('queued', 'running') OR h.state = 'open'`,
        [],
      ),
    ).toEqual([])
    // No run is started twice.
    expect([...executions.values()].filter((times) => times > 1)).toEqual([])
  })

  async function actTogether(histories: Plan[][]): Promise<void> {
    let over = false
    const looking = lookAllTheTime(() => over)
    const persons = histories.map((steps) => person(`usr_p${String(people++)}`, steps))
    await Promise.all(persons).finally(() => (over = true))
    await looking
  }

  /** Checks the wallet again and again while the histories run. */
  async function lookAllTheTime(over: () => boolean): Promise<void> {
    while (!over()) {
      const bad = await database.statements.run(
        `SELECT a.id FROM ledger_account a
         LEFT JOIN (SELECT wallet_id, sum(amount) AS amount FROM ledger_hold WHERE state = 'open' GROUP BY 1) h ON h.wallet_id = a.id
         WHERE a.kind = 'wallet' AND (a.locked < 0 OR a.available < 0 OR a.locked <> coalesce(h.amount, 0))`,
        [],
      )
      expect(bad).toEqual([])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function person(userId: string, steps: readonly Plan[]): Promise<void> {
    await fund(calm.ledger, userId, FUNDS)
    await fund(calm.ledger, `${userId}c`, 0n)
    const creators = [userId, `${userId}c`, 'usr_other']
    const answers = await Promise.all(
      steps.map((plan, place) => {
        const asset = `rda_${userId}_${String(place)}`
        plans.set(asset, { ...plan, creator: creators[plan.asset]! })
        return act(engines[place % engines.length]!, userId, asset, plan)
      }),
    )
    // A run that was refused or has an unknown outcome costs nothing; a run with an output costs its price.
    const mine = await database.statements.run<{ id: Id<'run'>; cost: bigint; output: string | null; rda_id: string }>(
      'SELECT id, cost, output, rda_id FROM run WHERE user_id = $1',
      [userId],
    )
    let spent = 0n
    let earned = 0n
    for (const { id, cost, output, rda_id: rda } of mine) {
      const { price, asset, execution } = plans.get(rda)!
      expect(cost).toBe(output === null ? 0n : price)
      if (output !== null) expect([output, execution]).toEqual([`output of ${id}`, 'succeeds'])
      spent += cost
      if (asset === 0) earned += cost - cost / 10n
    }
    for (const [place, run] of answers.entries()) {
      if (run === null) continue
      const row = mine.find(({ id }) => id === run.id)
      expect([row?.output, row?.cost]).toEqual([run.output, run.cost])
      if (run.state === 'succeeded') expect(steps[place]!.execution).toBe('succeeds')
      else if (steps[place]!.execution === 'succeeds') interrupted.push(run)
    }
    const { funds } = (await calm.ledger.wallet({ userId, environment: 'sandbox' }))!
    expect(funds).toMatchObject({ available: FUNDS - spent + earned, locked: 0n, spent })
  }

  /** One request and all that happens to it, until its run has ended; null when it was refused. */
  async function act(engine: Engine, userId: string, asset: string, plan: Plan): Promise<Run | null> {
    const caller = callerOf(userId)
    const name = operation()
    const id = deriveId('run', name)
    const begun = new Promise<void>((resolve) => started.set(id, resolve))
    const cancel = async (): Promise<void> => {
      await begun
      // Only the process that executes a run knows that its request has not left yet.
      for (const each of engines) await stubborn(() => each.runs.cancel(caller, id)).catch(refused)
    }
    const canceling = plan.execution === 'is canceled' ? cancel() : null
    const send = (): Promise<Run | null> => stubborn(() => once(engine, caller, asset, name, plan)).catch(refused)
    const answers = await Promise.all(plan.repeated ? [send(), send()] : [send()])
    if (answers[0] === null) return null
    await canceling
    const [first, second] = answers
    if (second != null) expect(second.state).toBe(first?.state)
    return await calm.runs.get(caller, id)
  }

  async function once(engine: Engine, caller: ReturnType<typeof callerOf>, asset: string, name: Id<'op'>, plan: Plan) {
    if (!plan.queued) return await engine.runs.run(caller, askFor(asset), { operation: name, keyed: true })
    const { id } = await engine.runs.queue(
      caller,
      { ...askFor(asset), background: true },
      { operation: name, keyed: true },
    )
    const { signal } = new AbortController()
    // Two workers, in two processes, get the job.
    await Promise.all(engines.map(({ runs }) => stubborn(() => runs.work(id, signal))))
    for (;;) {
      const run = await calm.runs.get(caller, id)
      if (run.state !== 'queued' && run.state !== 'running') return run
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})

/** Repeats the request until its outcome is known, as a client with an Idempotency-Key does. */
async function stubborn<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (error instanceof DomainError) throw error
    }
  }
}

function refused(error: unknown): null {
  if (error instanceof DomainError && (error.kind === 'unaffordable' || error.kind === 'conflict')) return null
  throw error
}
