import { openWorld, type World } from '../../checkouts/world.ts'

describe('GET /p/{chk}: 200', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false, chain: true })
  })
  afterAll(() => world.close())

  it('returns a program the public checkout, and the terms to sign in both versions', async () => {
    const { id } = await world.sell({
      price: 2.5,
      redirectUrl: 'https://example.com/thanks',
      fields: [{ name: 'a', type: 'text' }],
    })
    const { status, body, headers, text } = await world.call('GET', `/p/${id}`)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const asset = { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC', version: '2' }
    const url = `http://localhost:0/p/${id}`
    const common = {
      scheme: 'exact',
      payTo: world.recipient,
      maxTimeoutSeconds: 300,
      asset: asset.address,
      extra: { name: 'USDC', version: '2' },
    }
    expect(body).toEqual({
      checkout: {
        id,
        after: { kind: 'webhook', file: null },
        picture: null,
        url,
        x402Url: url,
        mcp: { url: `${url}/mcp`, tool: 'seo-audit' },
        status: 'active',
        lifetime: 'persistent',
        testMode: false,
        product: { name: 'SEO audit', description: null },
        price: 2.5,
        pricing: { kind: 'fixed' },
        coupons: false,
        currency: 'USDC',
        network: 'base-sepolia',
        chainId: 84532,
        recipient: world.recipient,
        asset: { ...asset, decimals: 6 },
        fields: [
          {
            name: 'a',
            label: 'a',
            type: 'text',
            required: false,
            placeholder: null,
            options: null,
            description: null,
            default: null,
            min: null,
            max: null,
            pattern: null,
            patternMessage: null,
          },
        ],
        redirectUrl: 'https://example.com/thanks',
        responseMode: 'immediately',
        capture: 'onPayment',
        runSeconds: null,
        trialRuns: 0,
        plans: [],
        chat: null,
        transfers: true,
        explorer: 'https://sepolia.basescan.org',
      },
      available: true,
      total: 2.5,
      lines: { unit: 2.5, quantity: 1, subtotal: 2.5, coupon: null, discount: 0, total: 2.5 },
      quote: { quoteId: expect.any(String), expiresAt: expect.stringMatching(/Z$/) },
      prepared: null,
      trackRecord: null,
      brand: null,
      paymentRequirements: {
        v1: {
          ...common,
          network: 'base-sepolia',
          maxAmountRequired: '2500000',
          resource: url,
          description: 'SEO audit',
          mimeType: 'application/json',
          outputSchema: { slug: id, input: expect.objectContaining({ method: 'POST', bodyType: 'json' }) },
        },
        v2: { ...common, network: 'eip155:84532', amount: '2500000' },
      },
    })
    // Neither the workflow's address nor its owner is a customer's business.
    expect(text).not.toContain(world.workflow.url)
    expect(text).not.toContain(world.seller.caller.user.id)
  })

  it('in test mode there is nothing to sign', async () => {
    const { id } = await world.sell({ testMode: true, network: 'base' })
    expect((await world.call('GET', `/p/${id}`)).body).toMatchObject({
      checkout: { testMode: true, network: 'base' },
      available: true,
      paymentRequirements: null,
    })
  })

  it('is a page for a browser, with its own strict policy', async () => {
    const { id } = await world.sell({ product: { name: '<script>alert(1)</script>' } })
    const { status, headers, text } = await world.call('GET', `/p/${id}`, {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).not.toContain('<script>alert(1)')
  })

  it('is unavailable where this server cannot settle', async () => {
    const poor = await openWorld({ works: false })
    const { id } = await poor.sell()
    expect((await poor.call('GET', `/p/${id}`)).body.available).toBe(false)
    await poor.close()
  })
})
