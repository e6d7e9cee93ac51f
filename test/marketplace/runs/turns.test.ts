import { usdc } from '../../../service/kit/money.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import { resumeTopic, runTopics } from '../../../service/marketplace/jobs.ts'
import { resumption } from '../../../service/marketplace/service/runs/resumption.ts'
import { createOutbox } from '../../../service/queue/outbox.ts'
import { createQueue } from '../../../service/queue/queue.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { until } from '../../facilitator/world.ts'
import { askFor, assetOf, callerOf, createEngine, fund, operation, perRun } from './engine.ts'

describe('background runs of one account that hang', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  test("do not delay another account's approved runs", async () => {
    const begun: string[] = []
    const queue = createQueue({
      statements: database.statements,
      clock: systemClock,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      backend: { kind: 'postgres', connectionString: database.url },
      topics: [
        resumeTopic(
          {
            resume({ caller }) {
              begun.push(caller.subject)
              return caller.subject === 'usr_quick' ? Promise.resolve() : new Promise<never>(() => undefined)
            },
          },
          { perAccount: 4 },
        ),
      ],
      sweepers: [],
    })
    const approved = (userId: string) => resumption(callerOf(userId), askFor('rda_one'), operation())
    await createOutbox(systemClock).add(database.statements, [
      ...Array.from({ length: 40 }, () => approved('usr_slow')),
      approved('usr_quick'),
    ])
    await queue.start()
    await until(() => Promise.resolve(begun.includes('usr_quick') ? true : null))
    expect(begun.filter((name) => name === 'usr_slow').length).toBeLessThanOrEqual(4)
    await queue.stop(500)
    await database.statements.run('DELETE FROM outbox', [])
  })

  test('do not delay another account, and only a limited number waits', async () => {
    const begun: string[] = []
    const executor = {
      execute: ({ asset }: { asset: { id: string } }, signal: AbortSignal) => {
        begun.push(asset.id)
        if (asset.id === 'rda_quick') return Promise.resolve({ output: 'done', usage: null })
        return new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
    }
    const { runs, ledger } = createEngine(database.statements, {
      executor,
      asset: (id) =>
        assetOf(id, id === 'rda_quick' ? 'usr_good' : 'usr_hostile', perRun(usdc(id === 'rda_quick' ? 1n : 0n))),
      waitingMax: 150,
    })
    for (const userId of ['usr_hostile', 'usr_honest', 'usr_good']) await fund(ledger, userId, 100n)
    const queued = await Promise.allSettled(
      Array.from({ length: 150 }, () =>
        runs.queue(callerOf('usr_hostile'), askFor('rda_hang'), { operation: operation(), keyed: false }),
      ),
    )
    expect(queued.filter(({ status }) => status === 'fulfilled')).toHaveLength(150)
    await expect(
      runs.queue(callerOf('usr_hostile'), askFor('rda_hang'), { operation: operation(), keyed: false }),
    ).rejects.toMatchObject({
      kind: 'limited',
      code: 'quota_exceeded',
      fields: { quota: 'runs_waiting', limit: 150, resetsAt: null },
    })
    const honest = await runs.queue(callerOf('usr_honest'), askFor('rda_quick'), {
      operation: operation(),
      keyed: false,
    })
    const queue = createQueue({
      statements: database.statements,
      clock: systemClock,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      backend: { kind: 'postgres', connectionString: database.url },
      topics: runTopics(runs, { perAccount: 8, perTarget: 32 }),
      sweepers: [],
    })
    await queue.start()
    await until(async () => (await runs.get(callerOf('usr_honest'), honest.id)).state === 'succeeded')
    // In turns: the honest run had its own before the hostile account's ninth.
    expect(begun.filter((id) => id === 'rda_hang').length).toBeLessThanOrEqual(8)
    await Promise.all([queue.stop(500), runs.stop()])
  })
})
