import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('PATCH /agents/{id} → 200', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  test('keeps omitted fields, removes null ones, and replaces lists', async () => {
    const before = {
      name: 'A',
      limits: { perCall: 1, perDay: 5 },
      tools: { allow: ['a'], deny: ['b'] },
      alerts: [{ at: 0.5 }],
      approvalAbove: 0.5,
      onExceeded: 'pause',
    }
    const { agent } = (await person.call('POST', '/v1/agents', { body: before })).body
    const path = `/v1/agents/${String(agent.id)}`
    const nothing = await person.call('PATCH', path, { body: {} })
    expect(nothing.body.agent).toEqual({ ...agent, updatedAt: expect.any(String) })
    const { body } = await person.call('PATCH', path, {
      body: { limits: { perDay: null, perWeek: 0 }, tools: { allow: null }, alerts: null, status: 'paused' },
    })
    expect(body.agent).toMatchObject({
      name: 'A',
      status: 'paused',
      limits: { perCall: 1, perDay: null, perWeek: 0 },
      tools: { allow: null, deny: ['b'] },
      alerts: [],
      approvalAbove: 0.5,
      onExceeded: 'pause',
    })
  })

  test('keeps all concurrent changes', async () => {
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'A' } })).body
    const path = `/v1/agents/${String(agent.id)}`
    const limits = ['perCall', 'perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime']
    await Promise.all(
      limits.map((limit, place) => person.call('PATCH', path, { body: { limits: { [limit]: place + 1 } } })),
    )
    const after = (await person.call('GET', path)).body.agent.limits
    expect(after).toEqual(Object.fromEntries(limits.map((limit, place) => [limit, place + 1])))
  })
})
