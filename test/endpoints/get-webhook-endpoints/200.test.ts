import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('GET /webhook-endpoints', () => {
  let service: TestService
  let person: TestPerson
  const urls = [1, 2, 3].map((n) => `http://127.0.0.1:9/${String(n)}`)

  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    for (const url of urls) {
      await person.call('POST', '/v1/webhook-endpoints', { body: { url, events: ['run.completed'] } })
      service.clock.forward(1)
    }
  })
  afterAll(() => service.close())

  test('newest first, by pages', async () => {
    const { status, body } = await person.call('GET', '/v1/webhook-endpoints')
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 3, limit: 20, offset: 0 })
    const all = body.webhookEndpoints as { url: string }[]
    expect(all.map(({ url }) => url)).toEqual(urls.toReversed())
    const page = await person.call('GET', '/v1/webhook-endpoints?limit=1&offset=1')
    expect(page.body).toEqual({ webhookEndpoints: all.slice(1, 2), total: 3, limit: 1, offset: 1 })
  })

  test('lists no endpoints of other accounts', async () => {
    const other = await service.person()
    expect((await other.call('GET', '/v1/webhook-endpoints')).body).toMatchObject({ webhookEndpoints: [], total: 0 })
  })
})
