import type { Statements } from '../../service/kit/transaction.ts'
import type { Agent } from '../../service/budgets/model.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callerOf, callOf, policyOf, budgetsOn, outcomeOf, type BudgetsUnderTest } from './harness.ts'

/**
 * A process that alone serves an agent decides from memory, without reading the row. It must notice every change that
 * another process makes to the row before it allows a call.
 */
describe('an agent’s usage cached by a process', () => {
  let database: TestDatabase
  let clock: TestClock
  let world: BudgetsUnderTest
  let other: BudgetsUnderTest
  let reads = 0

  beforeAll(async () => {
    database = await testDatabase()
    clock = new TestClock()
    const counting = (inside: Statements): Statements => ({
      run: (text, values, name) => {
        if (name === 'spending_take') reads++
        return inside.run(text, values, name)
      },
    })
    world = budgetsOn(
      {
        ...counting(database.statements),
        together: (work) => database.statements.together((inside) => work(counting(inside))),
      },
      clock,
    )
    other = budgetsOn(database.statements, clock)
  })
  afterAll(async () => {
    await database.close()
  })

  const reserve = (agent: Agent, amount: bigint, id?: string, by = world) =>
    outcomeOf(by.budgets.reserve(callOf(agent, amount, {}, id)))

  /** An agent whose state is in the process's memory: its next call reads nothing. */
  async function remembered(limits: Parameters<typeof policyOf>[0], balance?: bigint): Promise<Agent> {
    const agent = await agentWith(world, policyOf(limits), balance)
    for (let call = 0; call < 3; call++) await reserve(agent, 1n)
    const before = reads
    expect(await reserve(agent, 1n)).toBe('allowed')
    expect(reads).toBe(before)
    return agent
  }

  const lifetime = async (agent: Agent) =>
    (await world.budgets.agents.standing(callerOf(agent.owner.userId), agent.id)).usage.lifetime

  test("stays within the agent's limit, to the micro-dollar", async () => {
    const agent = await remembered({ limits: { lifetime: 10n } })
    expect(await reserve(agent, 7n)).toBe('lifetime')
    expect(await reserve(agent, 6n)).toBe('allowed')
    expect(await reserve(agent, 1n)).toBe('lifetime')
    expect(await lifetime(agent)).toBe(10n)
  })

  test('includes the calls counted by another process', async () => {
    const agent = await remembered({ limits: { lifetime: 10n } })
    expect(await reserve(agent, 5n, undefined, other)).toBe('allowed')
    expect(await reserve(agent, 2n)).toBe('lifetime')
    expect(await reserve(agent, 1n)).toBe('allowed')
    expect(await lifetime(agent)).toBe(10n)
  })

  test('obeys a pause, a new rule and a removal from the next call on', async () => {
    const agent = await remembered({ limits: {} })
    const caller = callerOf(agent.owner.userId)
    await other.budgets.agents.change(caller, agent.id, (before) => ({ ...before, status: 'paused' }))
    expect(await reserve(agent, 1n)).toBe('paused')
    await other.budgets.agents.change(caller, agent.id, (before) => ({
      ...before,
      status: 'active',
      policy: policyOf({ limits: { perCall: 1n } }),
    }))
    expect([await reserve(agent, 2n), await reserve(agent, 1n)]).toEqual(['perCall', 'allowed'])
    await other.budgets.agents.remove(caller, agent.id)
    expect(await reserve(agent, 1n)).toBe('deleted')
  })

  test('counts a repeated reservation once', async () => {
    const agent = await remembered({ limits: { lifetime: 10n } })
    for (let time = 0; time < 5; time++) expect(await reserve(agent, 3n, `again-${agent.id}`)).toBe('allowed')
    expect(await lifetime(agent)).toBe(7n)
    expect((await world.ledger.wallet(agent.owner))?.funds.locked).toBe(7n)
  })

  test('frees a released amount for the next call', async () => {
    const agent = await remembered({ limits: { lifetime: 10n } })
    const hold = `back-${agent.id}`
    expect(await reserve(agent, 6n, hold)).toBe('allowed')
    await world.ledger.release({ hold, owner: agent.owner, announcements: [] })
    expect(await reserve(agent, 6n)).toBe('allowed')
    expect(await reserve(agent, 1n)).toBe('lifetime')
  })

  test('counts nothing for what the ledger refuses, and records the refusals', async () => {
    const agent = await remembered({ limits: { lifetime: 1_000n } }, 10n)
    const caller = callerOf(agent.owner.userId)
    expect([await reserve(agent, 7n), await reserve(agent, 6n), await reserve(agent, 1n)]).toEqual([
      'insufficient_balance',
      'allowed',
      'insufficient_balance',
    ])
    expect(await lifetime(agent)).toBe(10n)
    const { decisions } = await world.budgets.agents.decisions(
      caller,
      agent.id,
      { outcome: 'refused', kind: null },
      { limit: 10, offset: 0 },
    )
    expect(decisions.map(({ rule }) => rule)).toEqual(['balance', 'balance'])
  })

  test('starts over with the next window', async () => {
    clock.forwardToMinute()
    const agent = await remembered({ limits: { perMinute: 4n } })
    expect(await reserve(agent, 1n)).toBe('perMinute')
    clock.forward(60_000)
    expect(await reserve(agent, 4n)).toBe('allowed')
    expect(await reserve(agent, 1n)).toBe('perMinute')
  })

  test('sends one alert for concurrent calls across a threshold', async () => {
    const agent = await remembered({ limits: { lifetime: 10n }, alerts: [{ at: 0.8, limit: null }] })
    world.announced.length = 0
    for (let call = 0; call < 6; call++) expect(await reserve(agent, 1n)).toBe('allowed')
    expect(world.announced.map(({ payload }) => payload['event'])).toEqual(['agent.spending.warning'])
  })

  test('allows exactly the limit for concurrent calls in two processes', async () => {
    const agent = await remembered({ limits: { lifetime: 104n } })
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, call) => reserve(agent, 1n, undefined, call % 3 === 0 ? other : world)),
    )
    expect(outcomes.filter((outcome) => outcome === 'allowed')).toHaveLength(100)
    expect(await lifetime(agent)).toBe(104n)
    expect(await world.ledger.differences()).toEqual([])
  })
})
