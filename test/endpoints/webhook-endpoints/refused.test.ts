import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

/** A caller without access learns nothing: not whether the endpoint exists, not whose it is. */
describe('/webhook-endpoints', () => {
  let service: TestService
  let owner: TestPerson
  let other: TestPerson
  let id: string

  beforeAll(async () => {
    service = await testService()
    ;[owner, other] = [await service.person(), await service.person()]
    const body = { url: 'http://127.0.0.1:9/', events: ['run.completed'] }
    id = (await owner.call('POST', '/v1/webhook-endpoints', { body })).body.webhookEndpoint.id as string
  })
  afterAll(() => service.close())

  const ways = [
    ['GET', '', undefined],
    ['PATCH', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', undefined],
    ['POST', '/test', undefined],
  ] as const

  test.each(ways)(
    "%s …%s answers the same 404 for another account's endpoint as for an unknown one",
    async (method, way, body) => {
      const theirs = await other.call(method, `/v1/webhook-endpoints/${id}${way}`, { body })
      const none = await other.call(method, `/v1/webhook-endpoints/whe_00000000000000000000000000${way}`, { body })
      expect([theirs.status, theirs.body.code]).toEqual([404, 'webhook_endpoint_not_found'])
      expect({ ...none.body, requestId: '' }).toEqual({ ...theirs.body, requestId: '' })
    },
  )

  test.each([...ways, ['POST', 'create', { url: 'http://127.0.0.1:9/', events: ['run.failed'] }] as const])(
    "%s …%s with no key is 401, with an agent's 403",
    async (method, way, body) => {
      const path = way === 'create' ? '/v1/webhook-endpoints' : `/v1/webhook-endpoints/${id}${way}`
      expect((await service.call(method, path, { body })).status).toBe(401)
      const agent = await service.person()
      await service.database.pool.query('UPDATE identity_api_key SET agent_id = $1 WHERE user_id = $2', [
        'agt_1',
        agent.caller.user.id,
      ])
      const { status, body: answer } = await agent.call(method, path, { body })
      expect([status, answer.code]).toEqual([403, 'agent_key_forbidden'])
    },
  )

  test('and the endpoint is unchanged', async () => {
    const { status, body } = await owner.call('GET', `/v1/webhook-endpoints/${id}`)
    expect([status, body.webhookEndpoint.status]).toEqual([200, 'enabled'])
  })
})
