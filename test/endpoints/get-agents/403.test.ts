import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe("an agent's key may not look at or change agents, keys or approvals", () => {
  let service: TestService
  let person: TestPerson
  let id = ''
  let key = ''
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    id = (await person.call('POST', '/v1/agents', { body: { name: 'A' } })).body.agent.id
    key = (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: id } })).body.secret
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    ['GET', '/v1/agents'],
    ['POST', '/v1/agents'],
    ['GET', '/v1/agents/:id'],
    ['PATCH', '/v1/agents/:id'],
    ['DELETE', '/v1/agents/:id'],
    ['GET', '/v1/agents/:id/policy'],
    ['POST', '/v1/agents/:id/check'],
    ['POST', '/v1/agents/:id/simulate'],
    ['GET', '/v1/agents/:id/decisions'],
    ['GET', '/v1/agents/:id/spending'],
    ['GET', '/v1/approvals'],
    ['POST', '/v1/approvals/apr_x/approve'],
    ['POST', '/v1/keys'],
    ['POST', '/v1/wallet/deposit'],
  ])('%s %s', async (method, path) => {
    const { status, body } = await service.call(method, path.replace(':id', id), {
      key,
      ...(method === 'GET' ? {} : { body: {} }),
    })
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'agent_key_forbidden' })
  })

  test('but may read its own identity and balance', async () => {
    const me = await service.call('GET', '/v1/me', { key })
    expect(me.body).toMatchObject({ agentId: id, environment: 'sandbox' })
  })

  test('and its keys stop working when the agent is removed', async () => {
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'B' } })).body
    const bound = (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body.secret
    expect((await service.call('GET', '/v1/me', { key: bound })).status).toBe(200)
    await person.call('DELETE', `/v1/agents/${String(agent.id)}`)
    expect((await service.call('GET', '/v1/me', { key: bound })).status).toBe(401)
  })
})
