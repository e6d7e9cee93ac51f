import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, budgetsOn, callerOf, policyOf, type BudgetsUnderTest } from './harness.ts'

/** Many decisions of one agent: neither a simulation nor a list of them may take the process from others. */
describe('a long history', () => {
  const clock = new TestClock()
  let database: TestDatabase
  let world: BudgetsUnderTest

  beforeAll(async () => {
    database = await testDatabase()
    world = budgetsOn(database.statements, clock)
  })
  afterAll(() => database.close())

  async function agentAfter(calls: number) {
    const agent = await agentWith(world, policyOf())
    await database.pool.query(
      `INSERT INTO spending_decision (agent_id, at, kind, target, amount, outcome, reference)
       SELECT $1, $2::timestamptz - n * interval '1 second', 'tool', 'a-b', 1, 'allowed', $1 || n
       FROM generate_series(1, $3::int) AS n`,
      [agent.id, new Date(clock.now().getTime() - 3_600_000), calls],
    )
    return { agent, caller: callerOf(agent.owner.userId) }
  }

  test('is simulated up to a bound, and the answer says how much of it was', async () => {
    const { agent, caller } = await agentAfter(20_100)
    const simulate = (days: number) => world.budgets.agents.simulate(caller, agent.id, policyOf(), days)
    expect(await simulate(30)).toMatchObject({ calls: 20_000, allowed: 20_000, complete: false })
    const short = await agentAfter(10)
    const done = await world.budgets.agents.simulate(short.caller, short.agent.id, policyOf(), 30)
    expect(done).toMatchObject({ calls: 10, complete: true })
  })

  test('is simulated once at a time for an account, while other work goes on', async () => {
    const { agent, caller } = await agentAfter(4_000)
    const other = await agentAfter(1)
    const deny = Array.from({ length: 200 }, (_, place) => `no-*-such-*-tool-${String(place)}`)
    const policy = policyOf({ tools: { allow: null, deny } })
    let ticks = 0
    let isDone = false
    const tick = (): void => {
      ticks++
      if (!isDone) setImmediate(tick)
    }
    setImmediate(tick)
    const three = Array.from({ length: 3 }, () => world.budgets.agents.simulate(caller, agent.id, policy, 30))
    const another = await world.budgets.agents.simulate(other.caller, other.agent.id, policy, 30)
    expect(another.calls).toBe(1)
    const results = await Promise.allSettled(three)
    isDone = true
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(refused).toEqual([expect.objectContaining({ code: 'simulations_busy' })])
    expect(ticks).toBeGreaterThan(5)
  })

  test('is counted from where the last count ended', async () => {
    const { agent, caller } = await agentAfter(1_500)
    const filter = { outcome: null, kind: null }
    const totals = async () =>
      (await world.budgets.agents.decisions(caller, agent.id, filter, { limit: 1, offset: 0 })).total
    expect(await totals()).toBe(1_500)
    // Whatever would be counted anew is missing: only what is later is.
    await database.pool.query('DELETE FROM spending_decision WHERE agent_id = $1', [agent.id])
    expect(await totals()).toBe(1_500)
    await database.pool.query(
      `INSERT INTO spending_decision (agent_id, at, kind, target, amount, outcome, reference)
       VALUES ($1, now(), 'tool', 'a-b', 1, 'allowed', $1 || 'later')`,
      [agent.id],
    )
    expect(await totals()).toBe(1_501)
  })
})
