import { payWorld, type PayWorld } from '../../tools/calls/pay-world.ts'
import { toolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/pay/{slug} → 402, 400, 404, 409, 410, 503', () => {
  let world: PayWorld
  beforeAll(async () => {
    world = await payWorld()
  })
  afterAll(async () => {
    expect(world.upstream.requests).toEqual([])
    await world.close()
  })

  const input = { title: 'Unpaid' }

  test('402 with the terms in both versions, in the specification’s fields', async () => {
    const answer = await world.buy('acme-create-note', input)
    expect(answer.status).toBe(402)
    const resource = world.service.origin.replace('127.0.0.1', 'localhost').replace(/:\d+$/, '')
    expect(answer.body).toMatchObject({
      x402Version: 1,
      code: 'payment_required',
      type: 'x402',
      amount: '0.01',
      currency: 'USDC',
      recipient: world.seller,
      accepts: [
        {
          scheme: 'exact',
          network: 'base-sepolia',
          maxAmountRequired: '10000',
          payTo: world.seller,
          resource: expect.stringMatching(/\/tools\/acme-create-note$/),
          outputSchema: { input: { bodyFields: { title: { type: 'string' } } } },
        },
      ],
    })
    expect(answer.body.accepts[0].resource).toContain(resource.slice(0, 16))
    const v2 = JSON.parse(Buffer.from(answer.headers.get('payment-required')!, 'base64').toString())
    expect(v2).toMatchObject({
      x402Version: 2,
      accepts: [{ network: 'eip155:84532', amount: '10000' }],
      extensions: { bazaar: { info: { input: { method: 'POST', body: { title: 'text' } } } } },
    })
    expect(
      ['required', 'amount', 'currency', 'facilitator'].map((name) => answer.headers.get(`x-payment-${name}`)),
    ).toEqual(['true', '0.01', 'USDC', answer.body.facilitator])
  })

  test('400 for a wrong input, before any payment; 404 for an unknown tool', async () => {
    const answer = await world.buy('acme-create-note', { pages: 'x' })
    expect([answer.status, Object.keys(answer.body.details as object)]).toEqual([400, ['title', 'pages']])
    expect((await world.buy('no-such-tool', {})).status).toBe(404)
  })

  test('402 with the reason and the terms for a payer without enough money', async () => {
    const poor = await world.chain.payer(9_999n)
    const answer = await world.buy(
      'acme-create-note',
      input,
      await world.sign(poor, await world.buy('acme-create-note', input)),
    )
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({ code: 'payment_refused', reason: 'invalid_exact_evm_insufficient_balance' })
    expect(answer.headers.get('payment-required')).not.toBeNull()
  })

  test('less than the price, an expired one, another recipient', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const required = await world.buy('acme-create-note', input)
    const less = await world.buy('acme-create-note', input, await world.sign(payer, required, 2, { value: 9_999n }))
    expect([less.status, less.body.code]).toEqual([402, 'payment_refused'])
    const expired = await world.buy(
      'acme-create-note',
      input,
      await world.sign(payer, required, 2, { validBefore: 1n }),
    )
    expect([expired.status, expired.body.code]).toEqual([410, 'payment_expired'])
    const other = await world.buy(
      'acme-create-note',
      input,
      await world.sign(payer, required, 2, { to: payer.address }),
    )
    expect(other.status).toBe(402)
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  test('402 for an authorization that expires before a reading tool can answer', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const required = await world.buy('acme-get-anything', {})
    const { maxTimeoutSeconds } = required.body.accepts[0]
    const now = BigInt(Math.floor(world.service.clock.now().getTime() / 1_000))
    const sign = (lasts: bigint) => world.sign(payer, required, 2, { validBefore: now + lasts })
    const answer = await world.buy('acme-get-anything', {}, await sign(60n))
    expect([answer.status, answer.body.code, answer.body.reason]).toEqual([
      402,
      'payment_refused',
      'invalid_exact_evm_payload_authorization_valid_before',
    ])
    expect(answer.body.error).toMatch(/validBefore must be at least 90 seconds from now/)
    expect(maxTimeoutSeconds).toBeGreaterThanOrEqual(150)
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  test.each([
    ['no base64 at all', 'PAYMENT-SIGNATURE', '{}'],
    ['not an object', 'X-PAYMENT', Buffer.from('"x"').toString('base64')],
    ['an empty object', 'X-PAYMENT', Buffer.from('{}').toString('base64')],
    ['of nothing known', 'PAYMENT-SIGNATURE', Buffer.from('{"x402Version":2,"payload":7}').toString('base64')],
  ] as const)('a header that is %s is a 400', async (_, header, value) => {
    const answer = await world.buy('acme-create-note', input, { header, value })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_payment'])
  })

  test('503 instead of 402 where nothing can be settled', async () => {
    const quiet = await toolWorld()
    const answer = await quiet.service.call('POST', '/tools/pay/acme-create-note', { body: input })
    expect([answer.status, answer.body.code]).toEqual([503, 'payments_unavailable'])
    await quiet.close()
  })
})
