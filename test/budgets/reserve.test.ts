import type { FreeCall } from '../../service/budgets/model.ts'
import { usdc } from '../../service/kit/money.ts'
import { newId } from '../../service/kit/ids.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callerOf, callOf, policyOf, budgetsOn, outcomeOf, type BudgetsUnderTest } from './harness.ts'

const day = 86_400_000

describe('a reservation within limits', () => {
  let database: TestDatabase
  let clock: TestClock
  let it_: BudgetsUnderTest

  beforeAll(async () => {
    database = await testDatabase()
    clock = new TestClock()
    it_ = budgetsOn(database.statements, clock)
  })
  beforeEach(() => {
    clock.forwardToMinute()
  })
  afterAll(async () => {
    await database.close()
  })

  test('is allowed for exactly as many of a hundred concurrent calls as the limit allows', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { perDay: 30n } }))
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, () => outcomeOf(it_.budgets.reserve(callOf(agent, 1n)))),
    )
    expect(outcomes.filter((one) => one === 'allowed')).toHaveLength(30)
    expect(outcomes.filter((one) => one === 'perDay')).toHaveLength(70)
  })

  test('is allowed exactly up to the limit through three concurrent processes', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { lifetime: 50n }, rate: { callsPerMinute: 40 } }))
    const processes = [it_, budgetsOn(database.statements, clock), budgetsOn(database.statements, clock)]
    const outcomes = await Promise.all(
      Array.from({ length: 150 }, (_, count) => outcomeOf(processes[count % 3]!.budgets.reserve(callOf(agent, 1n)))),
    )
    expect(outcomes.filter((one) => one === 'allowed')).toHaveLength(40)
  })

  test('is returned to the limit when its hold is released, partly captured or expired', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { perMonth: 100n } }))
    const { owner } = agent
    const [released, part, whole, late] = [60n, 20n, 10n, 10n].map((amount) => callOf(agent, amount))
    for (const call of [released!, part!, whole!]) await it_.budgets.reserve(call)
    await it_.budgets.reserve({ ...late!, deadline: new Date(Date.now() - 1000) })
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 1n)))).toBe('perMonth')
    await it_.ledger.release({ hold: released!.id, owner, announcements: [] })
    await it_.ledger.capture({
      hold: part!.id,
      owner,
      amount: usdc(5n),
      shares: [],
      kind: 'capture',
      reference: null,
      announcements: [],
    })
    await it_.ledger.capture({
      hold: whole!.id,
      owner,
      amount: usdc(10n),
      shares: [],
      kind: 'capture',
      reference: null,
      announcements: [],
    })
    await it_.ledger.sweep()
    expect((await it_.budgets.agents.standing(callerOf(owner.userId), agent.id)).usage.perMonth).toBe(15n)
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 86n)))).toBe('perMonth')
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 85n)))).toBe('allowed')
    expect((await it_.budgets.agents.standing(callerOf(owner.userId), agent.id)).usage.perMonth).toBe(100n)
  })

  test('counts a repeated reservation once, as a call and as money', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { lifetime: 10n }, rate: { callsPerMinute: 1 } }))
    const call = callOf(agent, 10n)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, count) =>
        outcomeOf((count % 2 === 0 ? it_ : budgetsOn(database.statements, clock)).budgets.reserve(call)),
      ),
    )
    expect(new Set(outcomes)).toEqual(new Set(['allowed']))
    expect((await it_.budgets.agents.standing(callerOf(agent.owner.userId), agent.id)).usage).toMatchObject({
      lifetime: 10n,
      calls: 1,
    })
  })

  test('counts nothing for what the wallet cannot pay, and still allows the calls behind it', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { perDay: 1000n } }), 100n)
    const outcomes = await Promise.all([
      outcomeOf(it_.budgets.reserve(callOf(agent, 950n))),
      outcomeOf(it_.budgets.reserve(callOf(agent, 60n))),
      outcomeOf(it_.budgets.reserve(callOf(agent, 40n))),
    ])
    expect(outcomes).toEqual(['insufficient_balance', 'allowed', 'allowed'])
    const { decisions } = await it_.budgets.agents.decisions(
      callerOf(agent.owner.userId),
      agent.id,
      { outcome: null, kind: null },
      { limit: 10, offset: 0 },
    )
    expect(decisions.map(({ amount, outcome, rule }) => [amount, outcome, rule]).sort()).toEqual(
      [
        [40n, 'allowed', null],
        [60n, 'allowed', null],
        [950n, 'refused', 'balance'],
      ].sort(),
    )
  })

  test('counts calls that cost nothing with the others, in several processes at once, and without any money', async () => {
    const agent = await agentWith(it_, policyOf({ rate: { callsPerMinute: 7 } }))
    const processes = [it_, budgetsOn(database.statements, clock)]
    const free = (more: object = {}): FreeCall => {
      const spender = {
        agentId: agent.id,
        kind: 'pay',
        target: 'https://a.test/',
        requestHash: 'h',
        isFree: true,
      } as const
      return { id: newId('op', clock.now()), owner: agent.owner, spender: { ...spender, ...more } }
    }
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, place) => {
        const { budgets } = processes[place % 2]!
        return outcomeOf(place % 4 < 2 ? budgets.countFree(free()) : budgets.reserve(callOf(agent, 1n)))
      }),
    )
    expect(outcomes.filter((one) => one === 'allowed')).toHaveLength(7)
    expect(outcomes.filter((one) => one === 'callsPerMinute')).toHaveLength(13)
    // One that was counted before it was sent is recorded whatever the limit, and counts no second time.
    await it_.budgets.countFree(free({ isCounted: true }))
    const { usage } = await it_.budgets.agents.standing(callerOf(agent.owner.userId), agent.id)
    expect(usage.calls).toBe(7)
    expect(await outcomeOf(it_.budgets.countFree(free()))).toBe('callsPerMinute')
    clock.forwardToMinute()
    expect(await outcomeOf(it_.budgets.countFree(free()))).toBe('allowed')
    expect(await outcomeOf(it_.budgets.countFree(free({ isFree: false })))).toBe('limits')
  })

  test('counts a call of unknown price once, before it is sent, and its payment as money only', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { perDay: 100n }, rate: { callsPerMinute: 4 } }))
    const caller = callerOf(agent.owner.userId)
    const spender = { agentId: agent.id, kind: 'pay', target: 'https://a.test/', requestHash: 'h' } as const
    const pay = async (amount: bigint) => {
      const id = newId('pay', clock.now())
      const sent = await outcomeOf(
        it_.budgets.countFree({ id, owner: agent.owner, spender: { ...spender, isUnpriced: true } }),
      )
      if (sent !== 'allowed') return sent
      const hold = { ...callOf(agent, amount), id, spender: { ...spender, isCounted: true } }
      return await outcomeOf(it_.budgets.reserve(hold))
    }
    clock.forwardToMinute()
    const outcomes = await Promise.all([60n, 30n, 9n, 1n, 1n, 1n].map(pay))
    expect(outcomes.filter((one) => one === 'allowed')).toHaveLength(4)
    expect(outcomes.filter((one) => one === 'callsPerMinute')).toHaveLength(2)
    expect((await it_.budgets.agents.standing(caller, agent.id)).usage).toMatchObject({ calls: 4 })
    clock.forwardToMinute()
    expect(await pay(100n)).toBe('perDay')
    expect((await it_.budgets.agents.standing(caller, agent.id)).usage).toMatchObject({ calls: 1 })
    const all = { outcome: null, kind: null }
    const { decisions } = await it_.budgets.agents.decisions(caller, agent.id, all, { limit: 20, offset: 0 })
    expect(decisions.map(({ outcome }) => outcome).filter((one) => one === 'allowed')).toHaveLength(4)
    expect(decisions).toHaveLength(7)
  })

  test("starts a new day's window at midnight, not before", async () => {
    const agent = await agentWith(it_, policyOf({ limits: { perDay: 10n } }))
    const midnight = new Date(Math.ceil((clock.now().getTime() + 1) / day) * day)
    clock.forward(midnight.getTime() - clock.now().getTime() - 5_000)
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 10n)))).toBe('allowed')
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 1n)))).toBe('perDay')
    clock.forward(6_000)
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 10n)))).toBe('allowed')
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 1n)))).toBe('perDay')
  })

  test('counts a call paid by another account as a call, but not as spending', async () => {
    const agent = await agentWith(it_, policyOf({ limits: { perDay: 0n }, rate: { callsPerMinute: 1 } }))
    const creator = await agentWith(it_, policyOf())
    const call = { ...callOf(agent, 50n), owner: creator.owner }
    expect(await outcomeOf(it_.budgets.reserve(call))).toBe('allowed')
    await it_.ledger.release({ hold: call.id, owner: creator.owner, announcements: [] })
    expect(await outcomeOf(it_.budgets.reserve({ ...callOf(agent, 50n), owner: creator.owner }))).toBe('callsPerMinute')
    expect((await it_.budgets.agents.standing(callerOf(agent.owner.userId), agent.id)).usage.lifetime).toBe(0n)
  })

  test('obeys a pause, a resumption, a change and a removal from the next decision on', async () => {
    const agent = await agentWith(it_, policyOf())
    const caller = callerOf(agent.owner.userId)
    const reserve = () => outcomeOf(it_.budgets.reserve(callOf(agent, 1n)))
    await it_.budgets.agents.change(caller, agent.id, (before) => ({ ...before, status: 'paused' }))
    expect(await reserve()).toBe('paused')
    await it_.budgets.agents.change(caller, agent.id, (before) => ({
      ...before,
      status: 'active',
      policy: policyOf({ limits: { perCall: 0n } }),
    }))
    expect(await reserve()).toBe('perCall')
    await it_.budgets.agents.change(caller, agent.id, (before) => ({ ...before, policy: policyOf() }))
    expect(await reserve()).toBe('allowed')
    await it_.budgets.agents.remove(caller, agent.id)
    expect(await reserve()).toBe('deleted')
    expect(await outcomeOf(it_.budgets.reserve(callOf({ ...agent, id: newId('agt', new Date()) }, 1n)))).toBe('deleted')
  })

  test('counts earlier spending against a limit that is set later', async () => {
    const agent = await agentWith(it_, policyOf())
    await it_.budgets.reserve(callOf(agent, 70n))
    const caller = callerOf(agent.owner.userId)
    await it_.budgets.agents.change(caller, agent.id, (before) => ({
      ...before,
      policy: policyOf({ limits: { perWeek: 100n } }),
    }))
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 31n)))).toBe('perWeek')
    expect(await outcomeOf(it_.budgets.reserve(callOf(agent, 30n)))).toBe('allowed')
  })
})
