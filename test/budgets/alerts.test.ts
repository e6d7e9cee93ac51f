import { budgetTopics } from '../../service/budgets/jobs.ts'
import { usdc } from '../../service/kit/money.ts'
import { expectLikeItsTest } from '../deliveries/samples.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callerOf, callOf, policyOf, budgetsOn, outcomeOf, type BudgetsUnderTest } from './harness.ts'

const day = 86_400_000

/** The events that are published; how they reach an endpoint is tested with the deliveries. */
describe('alerts', () => {
  let database: TestDatabase
  let clock: TestClock
  let world: BudgetsUnderTest
  beforeAll(async () => {
    database = await testDatabase()
    clock = new TestClock()
    world = budgetsOn(database.statements, clock)
    // Early in a day, so that no test meets midnight by chance.
    clock.forward(day - (clock.now().getTime() % day) + 3_600_000)
  })
  beforeEach(() => {
    world.announced.length = 0
  })
  afterAll(async () => {
    await database.close()
  })

  const alerts = () =>
    world.announced
      .filter(({ topic }) => topic === 'spending.alert')
      .map(({ payload }) => {
        const { event, data } = payload as unknown as { event: string; data: Record<string, unknown> }
        expectLikeItsTest({ event, data })
        return [event, data['limit'], data['at']]
      })

  test('are sent once per window for each threshold', async () => {
    const agent = await agentWith(
      world,
      policyOf({
        limits: { perDay: 100n },
        alerts: [
          { at: 0.5, limit: null },
          { at: 0.8, limit: 'perDay' },
        ],
      }),
    )
    const spend = (amount: bigint) => world.budgets.reserve(callOf(agent, amount))
    await spend(49n)
    expect(alerts()).toEqual([])
    const passing = callOf(agent, 1n)
    await world.budgets.reserve(passing)
    expect(alerts()).toEqual([['agent.spending.warning', 'perDay', 0.5]])
    // Falling below the limit and passing it once more sends no second alert.
    await world.ledger.release({ hold: passing.id, owner: agent.owner, announcements: [] })
    await spend(2n)
    expect(alerts()).toHaveLength(1)
    await spend(40n)
    expect(alerts().slice(1)).toEqual([['agent.spending.warning', 'perDay', 0.8]])
    clock.forward(day)
    await spend(90n)
    expect(alerts().slice(2)).toEqual([
      ['agent.spending.warning', 'perDay', 0.5],
      ['agent.spending.warning', 'perDay', 0.8],
    ])
  })

  test('are sent once for concurrent calls in two processes', async () => {
    const agent = await agentWith(world, policyOf({ limits: { perDay: 10n }, alerts: [{ at: 0.1, limit: null }] }))
    const other = budgetsOn(database.statements, clock)
    await Promise.all(
      Array.from({ length: 40 }, (_, count) =>
        outcomeOf((count % 2 === 0 ? world : other).budgets.reserve(callOf(agent, 1n))),
      ),
    )
    const all = [...alerts(), ...other.announced.map(({ payload }) => [payload['event']])].map(([event]) => event)
    expect(all.sort()).toEqual(['agent.spending.exceeded', 'agent.spending.warning'])
  })

  test('and approvals take turns with those of other accounts', async () => {
    const agent = await agentWith(
      world,
      policyOf({ limits: { perDay: 10n }, alerts: [{ at: 0.1, limit: null }], approvalAbove: usdc(5n) }),
    )
    await outcomeOf(world.budgets.reserve(callOf(agent, 2n)))
    await outcomeOf(world.budgets.reserve(callOf(agent, 6n)))
    const turn = { account: `sandbox/${agent.owner.userId}` }
    expect(world.announced.map(({ topic, turn: own }) => [topic, own])).toEqual([
      ['spending.alert', turn],
      ['spending.approval', turn],
    ])
    for (const topic of budgetTopics(world.budgets)) expect(topic.turns).toEqual({ perAccount: 1 })
  })

  test('report a refusal by a limit once; onExceeded: pause pauses the agent until it is resumed', async () => {
    const agent = await agentWith(world, policyOf({ limits: { perDay: 10n }, onExceeded: 'pause' }))
    const reserve = (amount: bigint) => outcomeOf(world.budgets.reserve(callOf(agent, amount)))
    expect(await reserve(11n)).toBe('perDay')
    expect(await reserve(1n)).toBe('paused')
    expect(alerts()).toEqual([
      ['agent.spending.exceeded', 'perDay', 1],
      ['agent.paused', 'perDay', undefined],
    ])
    await world.budgets.agents.change(callerOf(agent.owner.userId), agent.id, (before) => ({
      ...before,
      status: 'active',
    }))
    expect(await reserve(10n)).toBe('allowed')
    expect(await reserve(1n)).toBe('perDay')
    // The agent is paused again, with an event; the limit's own alert was already sent in this window.
    expect(alerts().slice(2)).toEqual([['agent.paused', 'perDay', undefined]])
  })

  test('report an agent paused by hand', async () => {
    const agent = await agentWith(world, policyOf())
    await world.budgets.agents.change(callerOf(agent.owner.userId), agent.id, (before) => ({
      ...before,
      status: 'paused',
    }))
    expect(alerts()).toEqual([['agent.paused', null, undefined]])
  })

  test('are rolled back with their decision', async () => {
    const agent = await agentWith(world, policyOf({ limits: { perDay: 10n }, alerts: [{ at: 0.5, limit: null }] }))
    const call = callOf(agent, 6n)
    const undone = world.budgets.actTogether([{ reserve: call }], async () => {
      throw new Error('the caller changed its mind')
    })
    await expect(undone).rejects.toThrow('changed its mind')
    const [row] = await database.statements.run<{ count: bigint }>(
      'SELECT count(*) FROM spending_alert WHERE agent_id = $1',
      [agent.id],
    )
    expect(row?.count).toBe(0n)
    expect((await world.budgets.agents.standing(callerOf(agent.owner.userId), agent.id)).usage.lifetime).toBe(0n)
    world.announced.length = 0
    await world.budgets.reserve(call)
    expect(alerts()).toHaveLength(1)
  })
})
