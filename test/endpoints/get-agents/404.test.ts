import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe("404 is the same for another account's, an unknown and a removed agent", () => {
  let service: TestService
  let person: TestPerson
  const ids: Record<string, string> = {}
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    const other = await service.person()
    ids['foreign'] = (await other.call('POST', '/v1/agents', { body: { name: 'B' } })).body.agent.id
    ids['removed'] = (await person.call('POST', '/v1/agents', { body: { name: 'C' } })).body.agent.id
    ids['unknown'] = 'agt_00000000000000000000000000'
    ids['nonsense'] = 'x'
    expect((await person.call('DELETE', `/v1/agents/${ids['removed']!}`)).status).toBe(204)
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    ['GET', '', undefined],
    ['PATCH', '', { name: 'Mine' }],
    ['DELETE', '', undefined],
    ['GET', '/policy', undefined],
    ['POST', '/check', { kind: 'run', target: 'x', amount: 1 }],
    ['POST', '/simulate', { policy: {}, days: 1 }],
    ['GET', '/decisions', undefined],
    ['GET', '/spending', undefined],
  ])('%s /agents/{id}%s', async (method, path, body) => {
    const answers = await Promise.all(
      Object.values(ids).map(async (id) => {
        const answer = await person.call(method, `/v1/agents/${id}${path}`, body === undefined ? {} : { body })
        return { status: answer.status, code: answer.body.code, error: answer.body.error }
      }),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ status: 404, code: 'agent_not_found', error: 'There is no such agent.' })]),
    )
  })

  test("lists contain only the caller's existing ones", async () => {
    expect((await person.call('GET', '/v1/agents')).body).toEqual({ agents: [], total: 0, limit: 20, offset: 0 })
  })
})
