import { testService, type TestService } from '../../harness/service.ts'
import { PAYWALL } from './paywall.ts'

describe('POST /paywalls → 201', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('answers the paywall with its gate, and the secret only here', async () => {
    const person = await service.person()
    const headers = { 'idempotency-key': 'one' }
    const created = await person.call('POST', '/v1/paywalls', { body: PAYWALL, headers })
    expect(created.status).toBe(201)
    expect(created.body.secret).toMatch(/^whsec_/)
    expect(created.body.paywall).toEqual({
      id: expect.stringMatching(/^pwl_[0-9a-z]{26}$/),
      slug: 'weather',
      url: expect.stringMatching(/\/gate\/weather$/),
      name: 'Weather',
      upstreamUrl: 'http://127.0.0.1:9/base',
      upstreamHeaders: ['X-Api-Key'],
      routes: [
        {
          method: 'GET',
          path: '/today/:city',
          pricing: { model: 'per-request', amount: 0.01 },
          description: 'Of a city',
          settle: 'before',
          paymentIdentifier: 'optional',
          signIn: null,
        },
        {
          method: 'GET',
          path: '/data',
          pricing: {
            model: 'tiered',
            tiers: [
              { upTo: 10, amount: 0.02 },
              { upTo: null, amount: 0.01 },
            ],
            window: 'month',
          },
          description: null,
          settle: 'after',
          paymentIdentifier: 'optional',
          signIn: null,
        },
        {
          method: 'POST',
          path: '/chat',
          pricing: { model: 'per-token', input: 0.000001, output: 0.002, minimum: 0, maximum: 1 },
          description: null,
          settle: 'after',
          paymentIdentifier: 'optional',
          signIn: null,
        },
        {
          method: '*',
          path: '/call',
          pricing: { model: 'per-minute', amount: 0.1, minimum: 0.01, maximum: 2 },
          description: null,
          settle: 'after',
          paymentIdentifier: 'optional',
          signIn: null,
        },
        {
          method: '*',
          path: '/*',
          pricing: { model: 'free' },
          description: null,
          settle: 'after',
          paymentIdentifier: 'optional',
          signIn: null,
        },
      ],
      recipient: '0x00000000000000000000000000000000000000a1',
      network: 'base-sepolia',
      testMode: false,
      testToken: null,
      status: 'active',
      milestones: [0.5, 100],
      version: 1,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const again = await person.call('POST', '/v1/paywalls', { body: PAYWALL, headers })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body).toEqual({ paywall: created.body.paywall, secret: null })
    // What is sealed is nowhere to be read.
    const rows = await service.database.statements.run('SELECT * FROM paywall', [])
    expect(
      JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
    ).not.toContain('an upstream key')
  })

  it('pays into the wallet of its seller without a recipient, where it has an address', async () => {
    const person = await service.person()
    const body = { ...PAYWALL, slug: 'own', recipient: undefined }
    const created = await person.call('POST', '/v1/paywalls', { body })
    const address = await service.wallets.depositAddress({ userId: person.caller.user.id, environment: 'sandbox' })
    if (address === null)
      expect(created).toMatchObject({ status: 400, body: { details: { recipient: expect.any(String) } } })
    else expect(created.body.paywall.recipient).toBe(address.toLowerCase())
  })
})
