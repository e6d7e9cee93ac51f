import { testService, type TestService } from '../../harness/service.ts'

describe('DELETE /webhook-endpoints/{id}', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  test('removes the endpoint; a second call answers 404', async () => {
    const person = await service.person()
    const body = { url: 'http://127.0.0.1:9/', events: ['run.completed'] }
    const created = await person.call('POST', '/v1/webhook-endpoints', { body })
    const path = `/v1/webhook-endpoints/${String(created.body.webhookEndpoint.id)}`
    const deleted = await person.call('DELETE', path)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    expect((await person.call('GET', path)).status).toBe(404)
    expect((await person.call('PATCH', path, { body: { status: 'enabled' } })).status).toBe(404)
    expect((await person.call('DELETE', path)).status).toBe(404)
    expect((await person.call('GET', '/v1/webhook-endpoints')).body.total).toBe(0)
  })
})
