import type { Id } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { GUESTS } from '../../../service/ledger/model.ts'
import type { LanguageModel } from '../../../service/marketplace/model/asset.ts'
import type { UnpaidBy } from '../../../service/marketplace/model/run.ts'
import type { EndedRun } from '../../../service/marketplace/ports/run.ts'
import { createFreeRuns, createUnpaidCosts } from '../../../service/marketplace/store/runs/free.ts'
import { TestClock } from '../../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { askFor, assetOf, callerOf, createEngine, fund, operation, perRun } from './engine.ts'

describe("what vendors bill for a creator's failed runs", () => {
  let database: TestDatabase
  const now = new TestClock().now()
  const costs = () => createUnpaidCosts(database.statements, { caller: usdc(1_000_000n), creator: usdc(10_000_000n) })

  const by = (userId: string, subject = userId, ownerId = 'usr_creator'): UnpaidBy => ({
    environment: 'production',
    userId,
    subject,
    ownerId,
  })
  const fail = async (run: UnpaidBy, modelCost: bigint): Promise<void> => {
    const ended = { id: 'run_x' as Id<'run'>, run, state: 'failed', modelCost: usdc(modelCost), endedAt: now }
    await costs().count(database.statements, [ended as unknown as EndedRun])
  }
  const reached = async (run: UnpaidBy) => (await costs().reached(run, now))?.of ?? null

  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(async () => {
    await database.close()
  })

  test('is bounded for each wallet of a guest, at every creator', async () => {
    await fail(by(GUESTS, '0xAA'), 1_000_000n)
    expect(await reached(by(GUESTS, '0xaa'))).toBe('caller')
    expect(await reached(by(GUESTS, '0xaa', 'usr_other'))).toBe('caller')
    expect(await reached(by(GUESTS, '0xbb'))).toBeNull()
  })

  test('is bounded for guests and for accounts with failed runs, and never stops an account without them', async () => {
    for (let n = 0; n < 10; n++) await fail(by(GUESTS, `0x${String(n)}`), 900_000n)
    await fail(by('usr_failed'), 100_000n)
    expect(await reached(by(GUESTS, '0xcc'))).toBe('creator')
    expect(await reached(by('usr_failed'))).toBe('creator')
    expect(await reached(by('usr_honest'))).toBeNull()
    expect(await reached(by('usr_failed', 'usr_failed', 'usr_other'))).toBeNull()
  })

  test('tells no creator that free runs are used up who gives none', async () => {
    const free = createFreeRuns(database.statements, { perDay: 0, perCaller: 20 })
    const creator = { userId: 'usr_creator', environment: 'production' as const }
    await fail(by('usr_free'), 1n)
    expect(await free.take({ creator, caller: 'usr_free', own: null }, now)).toMatchObject({ of: 'day', first: false })
  })

  test('refuses a run of a guest before its payment, and none that is paid already', async () => {
    const plain = assetOf('rda_prompt', 'usr_creator', perRun(usdc(500n)))
    const config = {
      type: 'prompt',
      promptTemplate: 'x',
      systemPrompt: null,
      allowedModels: ['m'],
      defaultModelId: 'm',
    }
    const asset = { ...plain, type: 'prompt', content: { ...plain.content, config } } as unknown as typeof plain
    const { runs, ledger } = createEngine(database.statements, {
      executor: { execute: () => Promise.resolve({ output: 'done', usage: null }) },
      asset: () => asset,
      model: { id: 'm', inputPrice: usdc(1n), outputPrice: usdc(1n), outputTokensMax: 1 } as unknown as LanguageModel,
      unpaidCosts: { of: 'creator', resetsAt: new Date(now.getTime() + 1_000) },
    })
    await fund(ledger, GUESTS, 0n)
    const run = (paid: boolean) =>
      runs.run(
        callerOf(GUESTS),
        { ...askFor('rda_prompt'), sold: { version: '1.0.0', paid } },
        { operation: operation(), keyed: true },
      )
    await expect(run(false)).rejects.toMatchObject({ code: 'unpaid_model_costs' })
    expect(await run(true)).toMatchObject({ state: 'succeeded' })
    await runs.stop()
  })
})
