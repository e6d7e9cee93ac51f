import { openWorld, type World } from '../../checkouts/world.ts'

describe('POST /v1/checkouts: 201', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  const make = (body: object, headers: Record<string, string> = {}) =>
    world.seller.call('POST', '/v1/checkouts', { body, headers })
  const least = () => ({
    callbackUrl: world.workflow.url,
    product: { name: 'SEO audit' },
    price: 5,
    network: 'base-sepolia',
    recipient: `0x${'AB'.repeat(20)}`,
  })

  it('returns every field for a minimal checkout, with defaults or null', async () => {
    const { status, body } = await make(least())
    expect(status).toBe(201)
    const { id } = body.checkout as { id: string }
    expect(id).toMatch(/^chk_[0-9a-z]{26}$/)
    expect(body).toEqual({
      checkout: {
        id,
        url: `http://localhost:0/p/${id}`,
        after: { kind: 'webhook' },
        picture: null,
        x402Url: `http://localhost:0/p/${id}`,
        mcpUrl: `http://localhost:0/p/${id}/mcp`,
        status: 'active',
        lifetime: 'persistent',
        expiresAt: null,
        callbackUrl: world.workflow.url,
        product: { name: 'SEO audit', description: null },
        price: 5,
        pricing: { kind: 'fixed' },
        coupons: false,
        currency: 'USDC',
        network: 'base-sepolia',
        recipient: `0x${'ab'.repeat(20)}`,
        fields: [],
        redirectUrl: null,
        testMode: false,
        responseMode: 'immediately',
        preflight: false,
        onUnconfirmed: 'hold',
        onError: 'retry',
        capture: 'onPayment',
        runSeconds: 180,
        refundOnFailure: false,
        embedOrigins: [],
        trialRuns: 0,
        trialsPerDay: 50,
        plans: [],
        chat: null,
        notify: { sale: false, failure: true },
        version: 1,
        source: null,
        pausedAt: null,
        expiredAt: null,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]+=*$/),
    })
  })

  it('returns every field as it was sent, with HTML unchanged', async () => {
    const markup = '<img src=x onerror="alert(1)">'
    const field = {
      name: 'site',
      label: markup,
      type: 'text',
      required: true,
      placeholder: markup,
      options: null,
      description: markup,
      default: 'abc',
      min: 2,
      max: 20,
      pattern: '[a-z]+',
    }
    const input = {
      ...least(),
      product: { name: markup, description: markup },
      price: 0.000001,
      fields: [field],
      redirectUrl: 'https://example.com/thanks?a=1',
      testMode: true,
      lifetime: 'temporary',
      responseMode: 'lastNode',
      preflight: true,
      onUnconfirmed: 'redeliver',
      source: { instanceId: 'i', workflowId: 'w', nodeId: 'n' },
    }
    const { status, body } = await make(input)
    expect(status).toBe(201)
    expect(body.checkout).toMatchObject({ ...input, recipient: input.recipient.toLowerCase() })
    expect(Date.parse(body.checkout.expiresAt as string)).toBeGreaterThan(Date.now())
  })

  it("without a recipient the owner's own wallet is paid", async () => {
    const { status, body } = await make({ ...least(), recipient: null })
    const { body: balance } = await world.seller.call('GET', '/v1/wallet/balance')
    expect(status).toBe(201)
    expect(body.checkout.recipient).toMatch(/^0x[0-9a-f]{40}$/)
    expect(body.checkout.recipient).toBe((balance.wallet.walletAddress as string).toLowerCase())
  })

  it('in test mode also for base with a sandbox key, since nothing moves', async () => {
    const { status, body } = await make({ ...least(), network: 'base', testMode: true })
    expect(status).toBe(201)
    expect(body.checkout).toMatchObject({ network: 'base', testMode: true })
  })

  it('creates one for two calls with one Idempotency-Key, and stores no secret for replays', async () => {
    const first = await make(least(), { 'Idempotency-Key': 'make-1' })
    const second = await make(least(), { 'Idempotency-Key': 'make-1' })
    expect(second.status).toBe(201)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).toEqual({ checkout: first.body.checkout, secret: null })
    expect(first.body.secret).toMatch(/^whsec_/)
    const [rows] = await world.service.database.statements.run<{ n: bigint }>(
      `SELECT count(*) AS n FROM idempotent_request WHERE answer::text LIKE '%whsec_%'`,
      [],
    )
    expect(rows!.n).toBe(0n)
  })
})
