import { usdcOf, sentBy } from '../facilitator/world.ts'
import { json } from './upstream.ts'
import { encoded } from '../harness/wallet.ts'
import { openWorld, signed, until, type World } from './world.ts'

const PRICE = { model: 'per-request', amount: 0.05 }

describe('a route with one price', () => {
  /*
   * One authorization, one settlement, one answer; what failed is free, and what is not known yet is said so.
   */

  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())
  const requestsTo = (path: string): number => world.upstream.requests.filter(({ url }) => url.startsWith(path)).length

  it.each([1, 2] as const)('charges the price and passes the answer on (x402 version %i)', async (version) => {
    const { gate } = await world.sell([{ path: '/weather', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const url = `${gate}/weather?city=Bern`
    const paid = await world.pay(payer, url, { version })
    expect(paid).toMatchObject({ status: 200, body: { url: '/weather?city=Bern' } })
    expect(paid.headers.get('x-payment-id')).toMatch(/^pay_/)
    const receipt = paid.headers.get(version === 1 ? 'x-payment-response' : 'payment-response')
    expect(JSON.parse(Buffer.from(receipt!, 'base64').toString())).toMatchObject({
      success: true,
      payer: payer.address,
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    // Recorded once the last byte is sent.
    const answer = await until(async () => {
      const state = await world.request(`${world.service.origin}/gate/payments/${paid.headers.get('x-payment-id')!}`)
      return state.body.payment.delivered === true ? state : null
    })
    expect(answer.body.payment).toMatchObject({ status: 'paid', amount: 0.05 })
  })

  it('settles once, calls once and answers once for a hundred concurrent presentations of an authorization', async () => {
    const { gate } = await world.sell([{ path: '/hundred', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const before = await sentBy(world.chain, world.chain.accounts[0]!.address)
    const header = await world.sign(payer, await world.request(`${gate}/hundred`))
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => world.request(`${gate}/hundred`, { headers: header })),
    )
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length
    expect({ 200: count(200), 409: count(409) }).toEqual({ 200: 1, 409: 99 })
    expect(requestsTo('/hundred')).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    expect(await sentBy(world.chain, world.chain.accounts[0]!.address)).toBe(before + 1)
  })

  it('charges a wallet with code before it calls the upstream', async () => {
    const { gate } = await world.sell([{ path: '/wallet', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    await world.chain.delegate(payer.address)
    let balanceAtRequest = 0n
    world.upstream.on('/wallet', (_request, response) => {
      void (async () => {
        balanceAtRequest = await usdcOf(world.chain, payer.address)
        await world.chain.delegate(payer.address, 'refusing')
        json(response, 200, { worth: 'it' })
      })()
    })
    expect(await world.pay(payer, `${gate}/wallet`)).toMatchObject({ status: 200, body: { worth: 'it' } })
    expect(balanceAtRequest).toBe(950_000n)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('charges nothing for a failed upstream, and lets the same authorization be used again', async () => {
    const { gate } = await world.sell([{ path: '/moody', pricing: PRICE }])
    let fails = true
    world.upstream.on('/moody', (_request, response) => {
      json(response, fails ? 500 : 200, { fails })
    })
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(`${gate}/moody`))
    const failed = await world.request(`${gate}/moody`, { headers: header })
    expect(failed).toMatchObject({ status: 500, body: { fails: true } })
    expect(failed.headers.get('x-payment-status')).toBeNull()
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    fails = false
    expect(await world.request(`${gate}/moody`, { headers: header })).toMatchObject({
      status: 200,
      body: { fails: false },
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('charges nothing when there is no upstream', async () => {
    const { gate } = await world.sell([{ path: '/x', pricing: PRICE }], { upstreamUrl: 'http://127.0.0.1:9' })
    const payer = await world.chain.payer(1_000_000n)
    const answer = await world.pay(payer, `${gate}/x`)
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_error' } })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  it('with settle: before charges first, and owes an answer until one was sent', async () => {
    const { gate } = await world.sell([{ path: '/first', pricing: PRICE, settle: 'before' }])
    let fails = true
    world.upstream.on('/first', (_request, response) => {
      json(response, fails ? 500 : 200, { fails })
    })
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(`${gate}/first`))
    const failed = await world.request(`${gate}/first`, { headers: header })
    expect([failed.status, failed.headers.get('x-payment-status')]).toEqual([500, 'paid'])
    const proven = { ...header, 'x-payment-token': failed.headers.get('x-payment-token')! }
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    fails = false
    // The signature is public on chain by now.
    const bare = await world.request(`${gate}/first`, { headers: header })
    expect(bare).toMatchObject({ status: 409, body: { code: 'payment_submitted' } })
    expect((await world.request(`${gate}/first`, { headers: proven })).status).toBe(200)
    expect((await world.request(`${gate}/first`, { headers: proven })).status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('says with settle: before that the payment arrived, where the API cannot be reached', async () => {
    const routes = [{ path: '/x', pricing: PRICE, settle: 'before' }]
    const { gate } = await world.sell(routes, { upstreamUrl: 'http://127.0.0.1:9' })
    const payer = await world.chain.payer(1_000_000n)
    const answer = await world.pay(payer, `${gate}/x`)
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_error', paid: true } })
    expect(answer.body.error).toMatch(
      /^The API could not be reached\. The payment arrived, but the answer has not been/,
    )
    expect(answer.body).toMatchObject({ paymentId: expect.any(String), paymentToken: expect.any(String) })
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('honours a price for ten minutes after its 402, and no longer', async () => {
    const { gate, id } = await world.sell([{ path: '/dear', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await world.request(`${gate}/dear`)
    expect(Date.parse(String(unpaid.body.expires)) - world.service.clock.now().getTime()).toBeGreaterThan(590_000)
    const [early, late] = [await world.sign(payer, unpaid), await world.sign(payer, unpaid)]
    const dearer = [{ method: 'GET', path: '/dear', pricing: { model: 'per-request', amount: 0.5 } }]
    expect((await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { routes: dearer } })).status).toBe(200)
    world.service.clock.forward(2_000)
    expect((await world.request(`${gate}/dear`)).body.amount).toBe('0.5')
    expect((await world.request(`${gate}/dear`, { headers: early })).status).toBe(200)
    world.service.clock.forward(601_000)
    const refused = await world.request(`${gate}/dear`, { headers: late })
    expect(refused).toMatchObject({ status: 402, body: { amount: '0.5', code: 'payment_refused' } })
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('sells nothing for a payment that failed before its seller was paid at another address', async () => {
    const { gate, id } = await world.sell([{ path: '/moved', pricing: PRICE }])
    let fails = true
    world.upstream.on('/moved', (_request, response) => {
      json(response, fails ? 500 : 200, { fails })
    })
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(`${gate}/moved`))
    expect((await world.request(`${gate}/moved`, { headers: header })).status).toBe(500)
    const body = { recipient: '0x00000000000000000000000000000000000000A2' }
    expect((await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body })).status).toBe(200)
    world.service.clock.forward(601_000)
    fails = false
    expect((await world.request(`${gate}/moved`, { headers: header })).status).toBe(402)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  it('refuses an authorization that paid for another route, another query, another paywall or a checkout', async () => {
    const routes = [
      { path: '/a', pricing: PRICE },
      { path: '/b', pricing: PRICE },
    ]
    const [one, other] = [await world.sell(routes), await world.sell(routes)]
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(`${one.gate}/a`))
    expect((await world.request(`${one.gate}/a`, { headers: header })).status).toBe(200)
    for (const url of [`${one.gate}/b`, `${one.gate}/a?more=1`, `${other.gate}/a`]) {
      expect(await world.request(url, { headers: header })).toMatchObject({ status: 409 })
    }
    const created = await world.seller.call('POST', '/v1/checkouts', {
      body: {
        callbackUrl: world.upstream.url,
        product: { name: 'A thing' },
        price: 0.05,
        network: 'base-sepolia',
        recipient: world.recipient,
      },
    })
    const payment = JSON.parse(Buffer.from(header['payment-signature']!, 'base64').toString())
    const paid = await world.request(`${world.service.origin}/p/${String(created.body.checkout.id)}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: {}, paymentPayload: payment }),
    })
    expect(paid.status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it.each([
    ['no base64 of JSON', 'x-payment', '!!!', 'must be base64 of JSON'],
    ['an array', 'x-payment', encoded([]), 'JSON object'],
    ['an unknown version', 'payment-signature', encoded({ x402Version: 3 }), 'x402Version'],
    ['no network', 'x-payment', encoded({ x402Version: 1, payload: {} }), 'network'],
    ['no terms', 'payment-signature', encoded({ x402Version: 2, payload: {} }), 'accepted'],
    [
      'an invalid amount',
      'x-payment',
      encoded({
        x402Version: 1,
        scheme: 'exact',
        network: 'base-sepolia',
        payload: {
          signature: '0x00',
          authorization: { from: `0x${'1'.repeat(40)}`, to: `0x${'1'.repeat(40)}`, value: '1e6' },
        },
      }),
      'value',
    ],
  ])('answers 400 with the reason for %s', async (_what, header, text, word) => {
    const { gate } = await world.sell([{ path: '/a', pricing: PRICE }])
    const answer = await world.request(`${gate}/a`, { headers: { [header]: text } })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_payment' } })
    expect(answer.body.details[header]).toContain(word)
  })

  it('answers 402 with the reason for a wrong network, amount or recipient, and 410 when expired', async () => {
    const { gate } = await world.sell([{ path: '/a', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await world.request(`${gate}/a`)
    const pay = async (change: Parameters<typeof signed>[4]) =>
      world.request(`${gate}/a`, { headers: await signed(payer, world.chain, unpaid, 2, change) })
    expect(await pay({ value: 49_999n })).toMatchObject({
      status: 402,
      body: { reason: expect.stringMatching(/value/) },
    })
    expect(await pay({ to: payer.address })).toMatchObject({
      status: 402,
      body: { reason: 'invalid_exact_evm_recipient_mismatch', amount: '0.05' },
    })
    const expired = await pay({ validBefore: BigInt(Math.floor(Date.now() / 1000) - 10) })
    expect(expired).toMatchObject({ status: 410, body: { code: 'payment_expired' } })
    const header = await world.sign(payer, unpaid, 1)
    const payment = JSON.parse(Buffer.from(header['x-payment']!, 'base64').toString())
    const base = await world.request(`${gate}/a`, {
      headers: { 'x-payment': encoded({ ...payment, network: 'base' }) },
    })
    expect(base).toMatchObject({ status: 402, body: { reason: expect.stringMatching(/network/) } })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  it('finishes and charges a call although its client hung up, and stores the answer for it', async () => {
    const { gate } = await world.sell([{ path: '/left', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const signed = await world.sign(payer, await world.request(`${gate}/left`))
    // Chosen by the buyer: the signature alone fetches nothing once it may be visible on chain.
    const header = { ...signed, 'x-payment-token': `tok_${'t'.repeat(43)}` }
    let answerNow = (): void => undefined
    world.upstream.on('/left', (_request, response) => {
      answerNow = () => json(response, 200, {})
    })
    const controller = new AbortController()
    const pendingRequest = world.request(`${gate}/left`, { headers: header, signal: controller.signal })
    await until(() => requestsTo('/left') > 0)
    expect((await world.request(`${gate}/left`, { headers: header })).body.code).toBe('payment_processing')
    controller.abort()
    await expect(pendingRequest).rejects.toThrow()
    answerNow()
    const answer = await until(async () => {
      const one = await world.request(`${gate}/left`, { headers: header })
      return one.status === 409 ? null : one
    })
    expect(answer.status).toBe(200)
    expect(requestsTo('/left')).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })
})
