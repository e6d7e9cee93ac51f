import { openWorld, type Answer, type World } from '../paywall/world.ts'
import { answerTo, challengeIn, credentialOf } from '../harness/mpp.ts'
import { usdcOf } from '../facilitator/world.ts'
import { json } from '../paywall/upstream.ts'

/** Payments of MPP at a gate, beside what the stock client does (test/conformance/mpp). */
describe('a payment of MPP', () => {
  let world: World
  let url: string
  let letters: string
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    const { gate } = await world.sell([
      { path: '/weather', pricing: { model: 'per-request', amount: 0.02 } },
      { path: '/tides', pricing: { model: 'per-request', amount: 0.02 } },
      { path: '/letters', pricing: { model: 'per-request', amount: 0.02 }, settle: 'before' },
    ])
    url = `${gate}/weather`
    letters = `${gate}/letters`
  })
  afterAll(() => world.close())

  const pay = (value: string, path = url): Promise<Answer> => world.request(path, { headers: { authorization: value } })
  const signed = async (change?: Record<string, unknown>) => {
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await world.request(url)
    return { payer, challenge: challengeIn(unpaid.headers), ...(await answered(payer, unpaid, change)) }
  }
  const answered = (payer: Parameters<typeof answerTo>[0], { headers }: Answer, change?: Record<string, unknown>) =>
    answerTo(payer, world.chain.network, challengeIn(headers), change)

  it('is offered beside x402 in one 402, which every client reads as before', async () => {
    const { status, headers, body } = await world.request(url)
    expect([status, body.x402Version, headers.get('cache-control')]).toEqual([402, 1, 'no-store'])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('payment-required')).not.toBeNull()
    expect(challengeIn(headers)).toMatchObject({ method: 'evm', intent: 'charge' })
  })

  it('is answered with its receipt, and settles once', async () => {
    const { payer, value } = await signed()
    const paid = await pay(value)
    expect(paid.status).toBe(200)
    const receipt = JSON.parse(Buffer.from(paid.headers.get('payment-receipt')!, 'base64url').toString())
    expect(receipt).toEqual({
      method: 'evm',
      reference: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: 'success',
      timestamp: expect.any(String),
    })
    expect(paid.headers.get('payment-response')).toBeNull()
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
  })

  const PROBLEM = 'https://paymentauth.org/problems/'
  type Signed = Awaited<ReturnType<typeof signed>>
  it.each<[string, string, (signature: Signed) => Promise<Answer>]>([
    ['no JSON', 'malformed-credential', () => pay('Payment e30x')],
    ['another payload', 'malformed-credential', () => pay(credentialOf({ challenge: {}, payload: 1 }))],
    [
      'a challenge with another expiry',
      'invalid-challenge',
      ({ payer, challenge }) =>
        answerTo(payer, world.chain.network, { ...challenge, expires: '2099-01-01T00:00:00Z' }).then(({ value }) =>
          pay(value),
        ),
    ],
    ['a challenge of another address', 'invalid-challenge', ({ value }) => pay(value, url.replace('weather', 'tides'))],
    [
      'a signature that answers no challenge',
      'invalid-challenge',
      () => signed({ nonce: `0x${'12'.repeat(32)}` }).then(({ value }) => pay(value)),
    ],
    ['a smaller amount', 'verification-failed', () => signed({ value: 1n }).then(({ value }) => pay(value))],
  ])('that holds %s is refused with a new challenge and a problem of its kind', async (_, type, present) => {
    const signature = await signed()
    const refused = await present(signature)
    expect([refused.status, refused.body.type]).toEqual([402, PROBLEM + type])
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(refused.body).toMatchObject({ status: 402, title: expect.any(String), detail: expect.any(String) })
    expect(refused.body.challengeId).toBe(challengeIn(refused.headers)['id'])
    expect(await usdcOf(world.chain, signature.payer.address)).toBe(1_000_000n)
  })

  it('is refused when its challenge has expired, and when its payer has no money', async () => {
    const poor = await world.chain.payer(19_999n)
    const broke = await pay((await answered(poor, await world.request(url))).value)
    expect(broke.body).toMatchObject({
      type: `${PROBLEM}payment-insufficient`,
      reason: expect.stringContaining('balance'),
    })
    const { value, payer } = await signed()
    world.service.clock.forward(301_000)
    expect((await pay(value)).body.type).toBe(`${PROBLEM}payment-expired`)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  it('that has arrived is never asked for again, though its answer can no longer be made', async () => {
    world.upstream.on('/letters', (_request, response) => json(response, 500, {}))
    const payer = await world.chain.payer(1_000_000n)
    const { value } = await answered(payer, await world.request(letters))
    const headers = { authorization: value, 'x-payment-token': `tok_${'t'.repeat(43)}` }
    expect((await world.request(letters, { headers })).status).toBe(500)
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    world.service.clock.forward(600_000)
    const { status, body } = await world.request(letters, { headers })
    expect([status, body]).toMatchObject([410, { code: 'payment_expired', paid: true, deliverable: false }])
  })

  it('is offered as a problem document to clients that accept it', async () => {
    const unpaid = await world.request(url, { headers: { 'accept-payment': 'tempo/*;q=0.5, evm/charge' } })
    expect(unpaid.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(unpaid.body).toMatchObject({ type: `${PROBLEM}payment-required`, accepts: [expect.anything()] })
  })
})
