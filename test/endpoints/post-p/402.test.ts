import { openWorld, type World } from '../../checkouts/world.ts'

describe('POST /p/{chk}: x402', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())

  const header = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  const decoded = (text: string | null) =>
    JSON.parse(Buffer.from(text ?? '', 'base64').toString()) as Record<string, unknown>

  it('402 without a payment: both versions, and the form of the specification', async () => {
    const { id } = await world.sell({ price: 0.000001 })
    const { status, body, headers } = await world.call('POST', `/p/${id}`)
    const { body: view } = await world.call('GET', `/p/${id}`)
    expect(status).toBe(402)
    expect(body).toEqual({
      x402Version: 1,
      error: expect.any(String),
      reason: null,
      code: 'payment_required',
      accepts: [view.paymentRequirements.v1],
      type: 'x402',
      amount: '0.000001',
      currency: 'USDC',
      facilitator: 'http://localhost:0/facilitator',
      recipient: world.recipient,
      memo: 'SEO audit',
      expires: expect.stringMatching(/Z$/),
    })
    expect(decoded(headers.get('payment-required'))).toEqual({
      x402Version: 2,
      error: expect.any(String),
      resource: { url: `http://localhost:0/p/${id}`, description: 'SEO audit', mimeType: 'application/json' },
      accepts: [view.paymentRequirements.v2],
      extensions: {
        bazaar: {
          info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: {} } },
          schema: expect.objectContaining({ required: ['input'] }),
        },
        'offer-receipt': {
          info: {
            offers: [
              expect.objectContaining({ format: 'eip712', acceptIndex: 0 }),
              { format: 'jws', acceptIndex: 0, signature: expect.stringMatching(/^eyJ/) },
            ],
          },
          schema: expect.anything(),
        },
        'payment-identifier': { info: { required: false }, schema: expect.anything() },
        refund: expect.objectContaining({
          info: {
            refundEndpoint: 'http://localhost:0/receipts/refunds',
            windowSeconds: 2_592_000,
            partialRefunds: true,
          },
        }),
      },
    })
    expect(
      Object.fromEntries(
        ['required', 'amount', 'currency', 'facilitator'].map((name) => [name, headers.get(`x-payment-${name}`)]),
      ),
    ).toEqual({
      required: 'true',
      amount: '0.000001',
      currency: 'USDC',
      facilitator: 'http://localhost:0/facilitator',
    })
  })

  it.each([
    [1, 'X-PAYMENT', 'x-payment-response', 'base-sepolia'],
    [2, 'PAYMENT-SIGNATURE', 'payment-response', 'eip155:84532'],
  ] as const)(
    '200 with one of version %i, and a receipt where its clients look',
    async (version, name, receipt, network) => {
      const { id } = await world.sell({ fields: [{ name: 'site', type: 'url', required: true }] })
      const payer = await world.chain.payer(5_000_000n)
      const headers = { [name]: header(await world.sign(payer, id, version)) }
      const body = { site: 'https://example.com/' }
      const paid = await world.call('POST', `/p/${id}`, { body, headers })
      expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'paid', payer: payer.address } } })
      expect(decoded(paid.headers.get(receipt))).toEqual({
        success: true,
        transaction: paid.body.payment.txHash,
        network,
        payer: payer.address,
        ...(version === 1 ? {} : { extensions: { 'offer-receipt': expect.anything() } }),
      })
      expect(paid.headers.get('x-payment-signed-receipt')).toBe(version === 1 ? paid.body.payment.signedReceipt : null)
      const token = paid.headers.get('x-payment-token')!
      expect(token).toBe(paid.body.payment.token)
      const proven = { ...headers, 'X-Payment-Token': token }
      const again = await world.call('POST', `/p/${id}`, { body, headers: proven })
      expect(again.body.payment.id).toBe(paid.body.payment.id)
      const other = await world.call('POST', `/p/${id}`, { body: { site: 'https://other.example/' }, headers: proven })
      expect(other).toMatchObject({ status: 409, body: { code: 'authorization_used' } })
    },
  )

  it('400 for the fields, by their names, before anything is to be paid', async () => {
    const { id } = await world.sell({ fields: [{ name: 'site', type: 'url', required: true }] })
    expect(await world.call('POST', `/p/${id}`, { body: {} })).toMatchObject({
      status: 400,
      body: { details: { site: 'is required' } },
    })
    for (const body of [[], 'text', 5]) {
      expect((await world.call('POST', `/p/${id}`, { body })).body.details).toEqual({ body: expect.any(String) })
    }
  })

  it('400 for an invalid payment header', async () => {
    const { id } = await world.sell()
    const answer = await world.call('POST', `/p/${id}`, { headers: { 'X-PAYMENT': '***' } })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_payment' } })
  })

  it('402 again, with the reason, for a payment that is refused', async () => {
    const { id } = await world.sell()
    const headers = { 'X-PAYMENT': header(await world.sign(await world.chain.payer(5n), id, 1)) }
    const answer = await world.call('POST', `/p/${id}`, { headers })
    const reason = 'invalid_exact_evm_insufficient_balance'
    expect(answer).toMatchObject({ status: 402, body: { x402Version: 1, code: 'payment_refused', reason } })
    expect(answer.body.accepts).toHaveLength(1)
    expect(decoded(answer.headers.get('payment-required'))['error']).toBe(reason)
  })

  it('a GET with a payment pays too, where nothing has to be filled in', async () => {
    const { id } = await world.sell()
    const headers = { 'X-PAYMENT': header(await world.sign(await world.chain.payer(5_000_000n), id, 1)) }
    expect(await world.call('GET', `/p/${id}`, { headers })).toMatchObject({
      status: 200,
      body: { payment: { status: 'paid' } },
    })
  })

  it('400 in test mode, where no payment is signed', async () => {
    const { id } = await world.sell({ testMode: true })
    const { status, body } = await world.call('POST', `/p/${id}`)
    expect([status, body.code]).toEqual([400, 'test_mode'])
    const [, address] = /`POST (.+)`/.exec(body.error as string) ?? []
    // What the sentence names takes it.
    const simulated = { body: { input: {}, simulate: true } }
    expect(await world.call('POST', new URL(address!).pathname, simulated)).toMatchObject({ status: 200 })
  })
})
