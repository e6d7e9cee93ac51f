import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /webhook-endpoints', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService({ ALLOW_PRIVATE_CALLBACKS: 'false' })
    person = await service.person()
  })
  afterAll(() => service.close())

  const good = { url: 'https://example.com/hook', events: ['run.completed'] }
  const { url, events } = good

  test.each([
    ['no body', undefined, 'body'],
    ['a list', [good], 'body'],
    ['no url', { events }, 'url'],
    ['no events', { url }, 'events'],
    ['no event', { url, events: [] }, 'events'],
    ['an unknown event', { url, events: ['payment.done'] }, 'events.0'],
    ['a number for an event', { url, events: [1] }, 'events.0'],
    ['one text for events', { url, events: 'run.completed' }, 'events'],
    ['a number for the url', { url: 1, events }, 'url'],
    ['a url without end', { url: `https://example.com/${'x'.repeat(2_000)}`, events }, 'url'],
    ['an unknown field', { ...good, extra: 1 }, 'extra'],
    ['an invalid secret', { ...good, secret: 'whsec_short' }, 'secret'],
    ['a secret with a space at its end', { ...good, secret: `${'x'.repeat(30)} ` }, 'secret'],
    ['a secret that is too long', { ...good, secret: 'x'.repeat(76) }, 'secret'],
  ])('%s is refused, naming the field', async (_, body, field) => {
    const { status, body: answer } = await person.call('POST', '/v1/webhook-endpoints', { body })
    expect(status).toBe(400)
    expect(answer).toMatchObject({ code: expect.any(String), requestId: expect.any(String) })
    if (field !== 'body' || body !== undefined) expect(Object.keys(answer.details as object)).toContain(field)
  })

  test.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'example.com/hook',
    '',
    'https://user:pass@example.com/',
    'http://127.0.0.1/hook',
    'http://[::1]/hook',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost/hook',
  ])('the address %j is refused', async (address) => {
    const { status, body } = await person.call('POST', '/v1/webhook-endpoints', { body: { ...good, url: address } })
    expect(status).toBe(400)
    expect(Object.keys(body.details as object)).toEqual(['url'])
  })

  test('a secret that is refused says which two forms there are', async () => {
    const { body } = await person.call('POST', '/v1/webhook-endpoints', { body: { ...good, secret: 'short' } })
    expect(body.details.secret).toMatch(/whsec_ and the base64 of 24 to 64 bytes, or 24 to 75 printable ASCII/)
  })

  test('none of these created an endpoint', async () => {
    const { body } = await person.call('GET', '/v1/webhook-endpoints')
    expect(body.total).toBe(0)
  })
})
