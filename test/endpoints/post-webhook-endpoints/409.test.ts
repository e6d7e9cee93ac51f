import { testService, type TestService } from '../../harness/service.ts'

describe('POST /webhook-endpoints', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  const body = { url: 'http://127.0.0.1:9/', events: ['run.completed'] }

  test('refuses the fifty-first endpoint until one is deleted', async () => {
    const person = await service.person()
    const created = []
    for (let n = 0; n < 50; n++) created.push(await person.call('POST', '/v1/webhook-endpoints', { body }))
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]))
    const refused = await person.call('POST', '/v1/webhook-endpoints', { body })
    expect([refused.status, refused.body.code]).toEqual([409, 'too_many_webhook_endpoints'])
    await person.call('DELETE', `/v1/webhook-endpoints/${String(created[0]?.body.webhookEndpoint.id)}`)
    expect((await person.call('POST', '/v1/webhook-endpoints', { body })).status).toBe(201)
  })

  test('an Idempotency-Key of another request is refused', async () => {
    const person = await service.person()
    const headers = { 'idempotency-key': 'one' }
    await person.call('POST', '/v1/webhook-endpoints', { body, headers })
    const other = await person.call('POST', '/v1/webhook-endpoints', {
      body: { ...body, url: `${body.url}x` },
      headers,
    })
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict'])
  })
})
