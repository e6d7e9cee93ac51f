import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('PATCH /webhook-endpoints/{id}', () => {
  let service: TestService
  let person: TestPerson
  let path: string

  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    const body = { url: 'http://127.0.0.1:9/', events: ['run.completed'] }
    const created = await person.call('POST', '/v1/webhook-endpoints', { body })
    path = `/v1/webhook-endpoints/${String(created.body.webhookEndpoint.id)}`
  })
  afterAll(() => service.close())

  const patch = async (body: unknown) => {
    const answer = await person.call('PATCH', path, { body })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await person.call('GET', path)).body)
    return answer.body.webhookEndpoint as Record<string, unknown>
  }

  test('changes only the fields sent', async () => {
    const before = await patch({})
    expect(await patch({ events: ['run.failed', 'run.completed'] })).toEqual({
      ...before,
      events: ['run.failed', 'run.completed'],
    })
    expect((await patch({ url: 'http://127.0.0.1:9/other' }))['url']).toBe('http://127.0.0.1:9/other')
    const off = await patch({ status: 'disabled' })
    expect(off).toMatchObject({ status: 'disabled', disabledAt: expect.any(String) })
    expect(await patch({ status: 'disabled' })).toEqual(off)
    expect(await patch({ status: 'enabled' })).toMatchObject({ status: 'enabled', disabledAt: null })
  })
})
