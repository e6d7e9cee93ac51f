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

  test.each([
    [{ url: 'http://169.254.169.254/' }, 'url'],
    [{ url: 'ftp://example.com' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['nothing'] }, 'events.0'],
    [{ status: 'deleted' }, 'status'],
    [{ secret: 'whsec_x' }, 'secret'],
  ])('%j is refused and changes nothing', async (body, field) => {
    const before = (await person.call('GET', path)).body as unknown
    const { status, body: answer } = await person.call('PATCH', path, { body })
    expect([status, Object.keys(answer.details as object)]).toEqual([400, [field]])
    expect((await person.call('GET', path)).body).toEqual(before)
  })
})
