import { usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

const PRICE = { model: 'per-request', amount: 0.05 }

describe('a payment that the chain has not taken yet', () => {
  /*
   * The chain is slower than any client waits: a pending payment is reported as pending, and a paid request is answered
   * later.
   */

  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_WAIT_MS: '300' } })
  })
  afterAll(() => world.close())
  const answersStored = async (): Promise<number> =>
    (await world.service.database.statements.run('SELECT FROM sale_answer', [])).length
  const requestsTo = (path: string): number => world.upstream.requests.filter(({ url }) => url.startsWith(path)).length

  it('answers 503 with a status address, never a new 402, and returns the answer in the end', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/slow', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: 'one' }
    const header = await world.sign(payer, await world.request(`${gate}/slow`, request))
    await world.chain.call('evm_setAutomine', false)
    const pending = await world.request(`${gate}/slow`, { ...request, headers: header })
    expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending', paymentId: expect.any(String) } })
    expect(pending.headers.get('retry-after')).toBe('3')
    const id = String(pending.body.paymentId)
    const shown = await world.request(
      String(pending.body.statusUrl).replace('http://localhost:0', world.service.origin),
    )
    expect(shown.body.payment).toMatchObject({ id, status: 'settling', delivered: false })
    const token = String(pending.body.paymentToken)
    const proven = { ...header, 'x-payment-token': token }
    expect((await world.request(`${gate}/slow`, { ...request, headers: proven })).status).toBe(503)
    // By now the signature is public on chain.
    const bareAgain = await world.request(`${gate}/slow`, { ...request, headers: header })
    expect(bareAgain).toMatchObject({ status: 409, body: { code: 'payment_submitted' } })
    await world.chain.call('evm_setAutomine', true)
    await world.chain.mine()
    await until(async () => {
      await world.sweep()
      return (await world.service.paywalls.payment(id)).state === 'paid'
    })

    const other = await world.request(`${gate}/slow`, { method: 'POST', body: 'two', headers: proven })
    expect(other).toMatchObject({ status: 409, body: { code: 'payment_for_another_request' } })
    // The id alone fetches nothing; the id with the buyer's secret token fetches the response.
    const bare = await world.request(`${gate}/slow`, { ...request, headers: { 'x-payment-id': id } })
    expect(bare).toMatchObject({ status: 400, body: { code: 'invalid_payment' } })
    const guessed = { 'x-payment-id': id, 'x-payment-token': `tok_${'A'.repeat(43)}` }
    expect((await world.request(`${gate}/slow`, { ...request, headers: guessed })).status).toBe(400)
    const named = { 'x-payment-id': id, 'x-payment-token': token }
    const answer = await world.request(`${gate}/slow`, { ...request, headers: named })
    expect(answer).toMatchObject({ status: 200, body: { body: 'one' } })
    // That it has arrived is written a moment after it was sent.
    await until(async () => {
      const later = await world.request(`${gate}/slow`, { ...request, headers: named })
      expect(later).toMatchObject({
        status: 409,
        body: { code: expect.stringMatching(/^payment_(processing|delivered)$/) },
      })
      return later.body.code === 'payment_delivered'
    })
    const last = await world.request(`${gate}/slow`, { ...request, headers: named })
    expect(last.body).toMatchObject({ paymentId: id, paid: true, deliverable: false })
    expect(last.body.error).toContain('ask its seller for a refund')
    expect(requestsTo('/slow')).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('keeps an answer for 26 hours where its buyer was away, then answers 410; a fresh signature works like the token', async () => {
    const { gate } = await world.sell([{ path: '/kept', pricing: PRICE }])
    const payer = await world.chain.payer(1_000_000n)
    const pay = async () => {
      const unpaid = await world.request(`${gate}/kept`)
      const header = await world.sign(payer, unpaid)
      await world.chain.call('evm_setAutomine', false)
      const { body } = await world.request(`${gate}/kept`, { headers: header })
      await world.chain.call('evm_setAutomine', true)
      await world.chain.mine()
      const id = String(body.paymentId)
      await until(async () => {
        await world.sweep()
        return (await world.service.paywalls.payment(id)).state === 'paid'
      })
      return { id, header, unpaid, token: String(body.paymentToken) }
    }
    const first = await pay()
    const fresh = await world.sign(payer, first.unpaid)
    const stranger = await world.sign(await world.chain.payer(1_000_000n), first.unpaid)
    const as = (proof: Record<string, string>) =>
      world.request(`${gate}/kept`, { headers: { 'x-payment-id': first.id, ...proof } })
    expect((await as(stranger)).status).toBe(400)
    expect((await as(first.header)).status).toBe(400)
    expect((await as(fresh)).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)

    const second = await pay()
    const { clock, sales } = world.service
    clock.forward(26 * 3_600_000 - 60_000)
    await sales.answers(clock.now())
    expect(await answersStored()).toBe(1)
    clock.forward(61_000)
    const late = await world.request(`${gate}/kept`, { headers: { ...second.header, 'x-payment-token': second.token } })
    expect(late).toMatchObject({ status: 410, body: { code: 'payment_expired' } })
    await sales.answers(clock.now())
    expect(await answersStored()).toBe(0)
  })
})
