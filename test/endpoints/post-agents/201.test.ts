import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /agents → 201', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  test('a name is enough: then nothing is limited, and every unset rule is null', async () => {
    const { status, body } = await person.call('POST', '/v1/agents', { body: { name: ' Researcher ' } })
    expect(status).toBe(201)
    expect(body.agent).toEqual({
      id: expect.stringMatching(/^agt_[0-9a-z]{26}$/),
      name: 'Researcher',
      status: 'active',
      environment: 'sandbox',
      limits: { perCall: null, perMinute: null, perDay: null, perWeek: null, perMonth: null, lifetime: null },
      rate: { callsPerMinute: null },
      tools: { allow: null, deny: [] },
      rdas: { allow: null, deny: [] },
      domains: { allow: null, deny: [] },
      approvalAbove: null,
      defaultPerDay: 10,
      alerts: [],
      onExceeded: 'refuse',
      warnings: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  test('returns every rule as it was sent', async () => {
    const rules = {
      name: 'Buyer',
      status: 'paused',
      limits: { perCall: 0.5, perMinute: 1.000001, perDay: 5, perWeek: 20, perMonth: 60, lifetime: 9007199254 },
      rate: { callsPerMinute: 30 },
      tools: { allow: ['search-*', 'mail-send'], deny: ['search-private'] },
      rdas: { allow: null, deny: ['*-draft'] },
      domains: { allow: ['*.Example.com'], deny: [] },
      approvalAbove: 0.25,
      alerts: [
        { at: 0.8, limit: null },
        { at: 0.9999, limit: 'perDay' },
      ],
      onExceeded: 'pause',
    }
    const { status, body } = await person.call('POST', '/v1/agents', { body: rules })
    expect(status).toBe(201)
    expect(body.agent).toMatchObject({ ...rules, domains: { allow: ['*.example.com'], deny: [] } })
    const found = await person.call('GET', `/v1/agents/${String(body.agent.id)}`)
    expect(found.body.agent).toEqual(body.agent)
  })

  test('accepts contradicting rules with warnings', async () => {
    const rules = { name: 'Torn', limits: { perCall: 5, perDay: 0 }, tools: { allow: [], deny: [] } }
    const { status, body } = await person.call('POST', '/v1/agents', { body: rules })
    expect(status).toBe(201)
    expect(body.agent.warnings).toEqual([
      expect.stringContaining('limits.perDay is 0'),
      expect.stringContaining('limits.perCall is higher than limits.perDay'),
      expect.stringContaining('tools.allow is an empty list'),
    ])
  })

  test('creates one agent for two calls with one Idempotency-Key', async () => {
    const options = { body: { name: 'Once' }, headers: { 'idempotency-key': 'agent-once' } }
    const [first, second] = await Promise.all([
      person.call('POST', '/v1/agents', options),
      person.call('POST', '/v1/agents', options),
    ])
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body.agent.id).toBe(second.body.agent.id)
  })

  test("a key can be bound to one's own agent, and to no other account's", async () => {
    const { body } = await person.call('POST', '/v1/agents', { body: { name: 'Bound' } })
    const own = await person.call('POST', '/v1/keys', { body: { name: 'its key', agentId: body.agent.id } })
    expect(own.status).toBe(201)
    expect(own.body.key.agentId).toBe(body.agent.id)
    const other = await service.person()
    const foreign = await other.call('POST', '/v1/keys', { body: { name: 'not its key', agentId: body.agent.id } })
    expect(foreign.status).toBe(400)
    expect(foreign.body.details).toEqual({ agentId: 'is not the id of one of your agents' })
  })
})
