import { usdc } from '../../service/kit/money.ts'
import type { Agent, Policy } from '../../service/budgets/model.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callerOf, callOf, policyOf, budgetsOn, outcomeOf, type BudgetsUnderTest } from './harness.ts'

/** Calls of tools: their own lists, and credits that pay before the wallet. */
describe('an agent that calls tools', () => {
  let database: TestDatabase
  let world: BudgetsUnderTest

  beforeAll(async () => {
    database = await testDatabase()
    world = budgetsOn(database.statements, new TestClock())
  })
  afterAll(async () => {
    await database.close()
  })

  const call = (agent: Agent, tool: string, amount = 1n, id?: string, alias = `tool_${tool}`) =>
    outcomeOf(
      world.budgets.reserve({
        ...callOf(agent, amount, { kind: 'tool', target: tool, alias }, id),
        useCredits: true,
      }),
    )
  const tools = (lists: Partial<Policy['tools']>) => policyOf({ tools: { allow: null, deny: [], ...lists } })

  test.each<[Partial<Policy['tools']>, string, string]>([
    [{}, 'github-create-issue', 'allowed'],
    [{ allow: ['github-*'] }, 'github-create-issue', 'allowed'],
    [{ allow: ['github-*'] }, 'gitlab-create-issue', 'tools.allow'],
    [{ allow: ['*-create-*'] }, 'gitlab-create-issue', 'allowed'],
    [{ allow: ['github-*'], deny: ['*-delete-*'] }, 'github-delete-repository', 'tools.deny'],
    [{ deny: ['rda-*'] }, 'rda-seo-audit', 'tools.deny'],
    [{ allow: ['tool_github-read'] }, 'github-read', 'allowed'],
    [{ deny: ['tool_github-read'] }, 'github-read', 'tools.deny'],
    [{ allow: [] }, 'github-read', 'tools.allow'],
    [{ allow: ['GitHub-*'] }, 'github-read', 'allowed'],
    [{ deny: ['*-DELETE-*'] }, 'github-delete-repository', 'tools.deny'],
  ])('%j: %s is %s', async (lists, tool, outcome) => {
    expect(await call(await agentWith(world, tools(lists)), tool)).toBe(outcome)
  })

  test('is not affected by its lists of assets and hosts, nor its runs by the list of tools', async () => {
    const nothing = { allow: [], deny: ['*'] }
    const agent = await agentWith(world, policyOf({ rdas: nothing, domains: nothing }))
    expect(await call(agent, 'github-read')).toBe('allowed')
    const other = await agentWith(world, tools(nothing))
    expect(await outcomeOf(world.budgets.reserve(callOf(other, 1n)))).toBe('allowed')
  })

  test('counts credits like wallet money, to the micro-dollar', async () => {
    const agent = await agentWith(world, policyOf({ limits: { lifetime: 10n } }), 100n)
    const { owner } = agent
    const id = `grant_${owner.userId}`
    await world.ledger.credit({ id, kind: 'grant', owner, amount: usdc(6n), reference: null, act: id })
    const first = `call_${owner.userId}`
    expect(await call(agent, 'a-b', 9n, first)).toBe('allowed')
    expect(await world.ledger.credits(owner)).toMatchObject({ available: 0n, locked: 6n })
    expect((await world.ledger.wallet(owner))?.funds).toMatchObject({ available: 97n, locked: 3n })
    expect(await call(agent, 'a-b', 2n)).toBe('lifetime')
    // One that failed is given back, to both, and to the limit.
    await world.ledger.release({ hold: first, owner, announcements: [] })
    expect(await call(agent, 'a-b', 10n)).toBe('allowed')
    expect(await call(agent, 'a-b', 1n)).toBe('lifetime')
  })

  test('has decisions that name the tool and the rule that refused it', async () => {
    const agent = await agentWith(world, tools({ deny: ['*-delete-*'] }), 5n)
    const caller = callerOf(agent.owner.userId)
    expect([
      await call(agent, 'github-read', 3n),
      await call(agent, 'github-delete-x'),
      await call(agent, 'github-read', 3n),
    ]).toEqual(['allowed', 'tools.deny', 'insufficient_balance'])
    const page = { limit: 10, offset: 0 }
    const { decisions } = await world.budgets.agents.decisions(caller, agent.id, { outcome: null, kind: 'tool' }, page)
    expect(decisions.map(({ target, outcome, rule, pattern }) => [target, outcome, rule, pattern])).toEqual([
      ['github-read', 'refused', 'balance', null],
      ['github-delete-x', 'refused', 'tools.deny', '*-delete-*'],
      ['github-read', 'allowed', null, null],
    ])
    const spent = await world.budgets.agents.spent(caller, agent.id, 'kind', 1)
    expect(spent).toEqual([{ key: 'tool', amount: 3n, calls: 1 }])
  })

  test('needs one approval for an expensive tool call, which then goes through once', async () => {
    const agent = await agentWith(world, policyOf({ approvalAbove: usdc(5n) }))
    const caller = callerOf(agent.owner.userId)
    const reserve = (id: string) =>
      outcomeOf(
        world.budgets.reserve({
          ...callOf(agent, 6n, { kind: 'tool', target: 'dear-tool', requestHash: 'the same request' }, id),
          useCredits: true,
        }),
      )
    expect(await reserve('dear-1')).toBe('approval_required')
    const { approvals } = await world.budgets.approvals.list(
      caller,
      { state: 'pending', agentId: agent.id },
      { limit: 10, offset: 0 },
    )
    expect(approvals).toMatchObject([{ kind: 'tool', target: 'dear-tool', amount: 6n }])
    await world.budgets.approvals.decide(caller, approvals[0]!.id, 'approved')
    expect([await reserve('dear-2'), await reserve('dear-2'), await reserve('dear-3')]).toEqual([
      'allowed',
      'allowed',
      'approval_required',
    ])
  })
})
