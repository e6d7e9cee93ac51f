import { callOf } from '../../budgets/harness.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('the spending of an agent', () => {
  let service: TestService
  let person: TestPerson
  let path = ''
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 100 } })
    const rules = {
      name: 'A',
      limits: { perCall: 2, perDay: 3 },
      rate: { callsPerMinute: 10 },
      rdas: { deny: ['bad-*'] },
      domains: { allow: ['*.good.test'] },
      approvalAbove: 1,
    }
    const { agent } = (await person.call('POST', '/v1/agents', { body: rules })).body
    path = `/v1/agents/${String(agent.id)}`
    const stored = await service.budgets.agents.find(person.caller, String(agent.id))
    await service.budgets.reserve(callOf(stored, 1_000_000n, { target: 'good-run' }, 'run_1'))
    await service.budgets.reserve(callOf(stored, 1_000_000n, { kind: 'tool', target: 'a-tool' }, 'run_2'))
    await service.ledger.release({ hold: 'run_2', owner: stored.owner, announcements: [] })
    await service.budgets.reserve(callOf(stored, 1n, { target: 'bad-run' }, 'run_3')).catch(() => undefined)
    await service.budgets.reserve(callOf(stored, 1_500_000n, {}, 'run_4')).catch(() => undefined)
  })
  afterAll(async () => {
    await service.close()
  })

  const nothing = { limit: null, allowed: null, spent: null, requested: null, pattern: null, resetsAt: null }
  test.each([
    [
      { kind: 'run', target: 'x', amount: 1 },
      { outcome: 'allowed', ...nothing },
    ],
    [
      { kind: 'run', target: 'x', amount: 1.5 },
      { outcome: 'held', ...nothing, limit: 'approvalAbove' },
    ],
    [
      { kind: 'run', target: 'x', amount: 2.000001 },
      { outcome: 'refused', limit: 'perCall', requested: 2.000001, allowed: 2 },
    ],
    [
      { kind: 'run', target: 'bad-x', amount: 0 },
      { outcome: 'refused', limit: 'rdas.deny', pattern: 'bad-*' },
    ],
    [{ kind: 'tool', target: 'bad-x', amount: 0 }, { outcome: 'allowed' }],
    [{ kind: 'pay', target: 'https://api.good.test/x', amount: 1 }, { outcome: 'allowed' }],
    [
      { kind: 'pay', target: 'https://evil.test/x', amount: 1 },
      { outcome: 'refused', limit: 'domains.allow' },
    ],
  ])('POST /check %o', async (body, expected) => {
    const answer = await person.call('POST', `${path}/check`, { body })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject(expected)
  })

  test('GET /policy shows each window with its remaining amount', async () => {
    const { body } = await person.call('GET', `${path}/policy`)
    const windows = body.windows as { limit: string }[]
    expect(windows.find(({ limit }) => limit === 'perDay')).toMatchObject({
      allowed: 3,
      spent: 1,
      remaining: 2,
    })
    expect(windows.find(({ limit }) => limit === 'lifetime')).toMatchObject({
      allowed: null,
      spent: 1,
      remaining: null,
      resetsAt: null,
    })
    expect(body.calls).toMatchObject({ allowed: 10, made: 2 })
    expect(body.policy.approvalAbove).toBe(1)
  })

  test('GET /decisions lists each decision with its rule, newest first', async () => {
    const { body } = await person.call('GET', `${path}/decisions`)
    expect(body.total).toBe(4)
    expect(
      (body.decisions as Record<string, unknown>[]).map(({ reference, outcome, rule, returned }) => [
        reference,
        outcome,
        rule,
        returned,
      ]),
    ).toEqual([
      ['run_4', 'held', 'approvalAbove', 0],
      ['run_3', 'refused', 'rdas.deny', 0],
      ['run_2', 'allowed', null, 1],
      ['run_1', 'allowed', null, 0],
    ])
    const tools = await person.call('GET', `${path}/decisions?kind=tool&outcome=allowed`)
    expect(tools.body.decisions).toHaveLength(1)
  })

  test('GET /spending sums the charged calls by day, target and kind', async () => {
    const by = async (what: string) =>
      (await person.call('GET', `${path}/spending?by=${what}`)).body.spending as unknown
    expect(await by('day')).toEqual([{ key: service.clock.now().toISOString().slice(0, 10), amount: 1, calls: 2 }])
    expect(await by('target')).toEqual([
      { key: 'good-run', amount: 1, calls: 1 },
      { key: 'a-tool', amount: 0, calls: 1 },
    ])
    expect(await by('kind')).toEqual([
      { key: 'run', amount: 1, calls: 1 },
      { key: 'tool', amount: 0, calls: 1 },
    ])
  })

  test('POST /simulate decides those calls again under other rules', async () => {
    const { status, body } = await person.call('POST', `${path}/simulate`, {
      body: { policy: { tools: { allow: [] }, limits: { perDay: 1 } }, days: 1 },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ calls: 4, allowed: 1, refused: 3, held: 0, complete: true })
    expect(
      (body.refusals as { reference: string; would: { limit: string } }[]).map(({ reference, would }) => [
        reference,
        would.limit,
      ]),
    ).toEqual([
      ['run_2', 'tools.allow'],
      ['run_3', 'perDay'],
      ['run_4', 'perDay'],
    ])
  })

  test.each([
    ['/check', { kind: 'gift', target: 'x', amount: 1 }, 'kind'],
    ['/check', { kind: 'run', target: 'x', amount: -1 }, 'amount'],
    ['/check', { kind: 'run', amount: 1 }, 'target'],
    ['/simulate', { policy: {}, days: 31 }, 'days'],
    ['/simulate', { policy: { limits: { perDay: -1 } }, days: 3 }, 'policy.limits.perDay'],
    ['/simulate', { days: 3 }, 'policy'],
  ])('POST %s %o is a 400', async (where, body, field) => {
    const answer = await person.call('POST', path + where, { body })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toEqual([field])
  })
})
