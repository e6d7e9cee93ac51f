import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /webhook-endpoints', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterAll(() => service.close())

  const body = { url: 'http://127.0.0.1:9/hook?x=1', events: ['payment.completed', 'run.failed', 'payment.completed'] }

  test('makes an endpoint, whose secret is in this answer only', async () => {
    const created = await person.call('POST', '/v1/webhook-endpoints', { body })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      webhookEndpoint: {
        id: expect.stringMatching(/^whe_[0-9a-z]{26}$/),
        url: body.url,
        events: ['payment.completed', 'run.failed'],
        status: 'enabled',
        failingSince: null,
        disabledAt: null,
        createdAt: expect.stringMatching(/Z$/),
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const shown = await person.call('GET', `/v1/webhook-endpoints/${String(created.body.webhookEndpoint.id)}`)
    expect(shown.body).toEqual({ webhookEndpoint: created.body.webhookEndpoint })
    const listed = await person.call('GET', '/v1/webhook-endpoints')
    expect(listed.text).not.toContain('whsec_')
  })

  test.each([`whsec_${Buffer.alloc(24, 7).toString('base64')}`, 'correct horse battery staple ~!'])(
    'takes the secret %s',
    async (secret) => {
      const created = await person.call('POST', '/v1/webhook-endpoints', { body: { ...body, secret } })
      expect([created.status, created.body.secret]).toEqual([201, secret])
    },
  )

  test('repeated under its Idempotency-Key makes one, without showing the secret again', async () => {
    const headers = { 'idempotency-key': 'once' }
    const before = (await person.call('GET', '/v1/webhook-endpoints')).body.total as number
    const first = await person.call('POST', '/v1/webhook-endpoints', { body, headers })
    const again = await person.call('POST', '/v1/webhook-endpoints', { body, headers })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect([again.status, again.body]).toEqual([201, { ...first.body, secret: null }])
    expect((await person.call('GET', '/v1/webhook-endpoints')).body.total).toBe(before + 1)
  })
})
