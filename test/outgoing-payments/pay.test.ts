import { usdc } from '../../service/kit/money.ts'
import type { TestChain } from '../harness/chain.ts'
import type { TestPerson, TestService } from '../harness/service.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { Wallet } from '../marketplace/runs/world.ts'
import type { Seller } from './seller.ts'
import { openPaidCalls, type PaidCalls } from './world.ts'

/** POST /pay against sellers of every kind, on a chain, with the service's own facilitator settling for them. */
describe('paying an address', () => {
  let world: PaidCalls
  let chain: TestChain
  let service: TestService
  let seller: Seller
  let person: TestPerson
  let recipient: `0x${string}`

  beforeAll(async () => {
    world = await openPaidCalls({ PAY_TIMEOUT_MS: '1500', RATE_API_PER_MINUTE: '0', RATE_SETTLE_PER_MINUTE: '0' })
    ;({ chain, service, seller } = world)
    recipient = chain.accounts[3]!.address
    person = await world.person(500)
  })
  afterAll(() => world.close())

  const pay = (path: string, more: object = {}, headers: Record<string, string> = {}) =>
    person.call('POST', '/v1/pay', { body: { url: seller.url(path), maxAmount: 1, ...more }, headers })
  const wallet = async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet as Wallet
  const status = async (id: string) =>
    (await person.call('GET', `/v1/pay/${id}`)).body.payment as Record<string, unknown>

  /** The platform's money on chain: the treasury, and the account's payer wallet. */
  async function chainBalance(): Promise<bigint> {
    const [payer] = await service.database.statements.run<{ address: `0x${string}` }>(
      'SELECT address FROM spending_payer WHERE user_id = $1',
      [person.caller.user.id],
    )
    const own = payer === undefined ? 0n : await usdcOf(chain, payer.address)
    return own + (await usdcOf(chain, world.treasury))
  }

  test.each(['/v1/honest', '/v2/honest', '/mpp/honest', '/mpp/own-header'])(
    '%s sells: paid once, captured, answered',
    async (path) => {
      const [before, money] = [await wallet(), await chainBalance()]
      const { status: code, body } = await pay(path, { method: 'POST', body: { q: 1 } })
      expect(code).toBe(200)
      expect(body.response).toMatchObject({ status: 200, encoding: 'utf8' })
      expect(JSON.parse(String(body.response.body))).toEqual({ sold: true, method: 'POST', body: '{"q":1}' })
      expect(body.payment).toMatchObject({
        status: 'settled',
        confirmed: true,
        amount: 0.25,
        maxAmount: 1,
        currency: 'USDC',
        network: 'base-sepolia',
        payer: expect.stringMatching(/^0x[0-9a-f]{40}$/),
        reason: null,
        recipient,
        txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        responseStatus: 200,
        protocol: path.startsWith('/mpp') ? 'mpp' : 'x402',
      })
      const { txHash: reference, receipt } = body.payment
      expect(receipt).toEqual(
        path.startsWith('/mpp')
          ? { method: 'evm', reference, status: 'success', timestamp: expect.any(String) }
          : { success: true, transaction: reference },
      )
      expect((await status(String(body.payment.id)))['receipt']).toEqual(receipt)
      const after = await wallet()
      expect(after).toMatchObject({ totalLocked: 0 })
      expect(after.totalSpent).toBeCloseTo(before.totalSpent + 0.25, 6)
      expect(await chainBalance()).toBe(money - 250_000n)
      expect(seller.payments.get(path)).toHaveLength(1)
    },
  )

  test('returns the answer of an address that requires no payment', async () => {
    const { body } = await pay('/free')
    expect(body).toEqual({
      payment: null,
      response: { status: 200, headers: expect.any(Object), body: 'for nothing', encoding: 'utf8' },
    })
  })

  test.each([
    ['/v1/dear', 402, 'price_above_maximum'],
    ['/v2/dear', 402, 'price_above_maximum'],
    ['/v2/asset', 502, 'no_acceptable_offer'],
    ['/v1/asset', 502, 'no_acceptable_offer'],
    ['/v2/network', 502, 'no_acceptable_offer'],
    ['/v1/network', 502, 'no_acceptable_offer'],
    ['/v2/scheme', 502, 'no_acceptable_offer'],
    ['/v2/domain', 502, 'no_acceptable_offer'],
    ['/v2/nobody', 502, 'no_acceptable_offer'],
    ['/plain-402', 502, 'no_acceptable_offer'],
    ['/mpp/dear', 402, 'price_above_maximum'],
    ['/mpp/asset', 502, 'no_acceptable_offer'],
    ['/mpp/network', 502, 'no_acceptable_offer'],
    ['/mpp/nobody', 502, 'no_acceptable_offer'],
    ['/mpp/permit2', 502, 'no_acceptable_offer'],
    ['/mpp/splits', 502, 'no_acceptable_offer'],
    ['/mpp/short', 502, 'no_acceptable_offer'],
    ['/mpp/over', 502, 'no_acceptable_offer'],
    ['/mpp/tempo', 502, 'no_acceptable_offer'],
    ['/mpp/session', 502, 'no_acceptable_offer'],
    ['/mpp/garbage', 502, 'no_acceptable_offer'],
    ['/mpp/host-header', 502, 'no_acceptable_offer'],
  ])('%s is refused before anything is signed', async (path, code, word) => {
    const before = await wallet()
    const answer = await pay(path)
    expect([answer.status, answer.body.code]).toEqual([code, word])
    expect(seller.payments.get(path)).toBeUndefined()
    expect(await wallet()).toEqual(before)
  })

  const unused = ['/v1/raise', '/v2/raise', '/v2/other-recipient', '/v1/again', '/v2/again', '/v2/500', '/v2/hang-up']
  test.each([...unused, '/mpp/raise', '/mpp/other-recipient', '/mpp/again', '/mpp/hang-up'])(
    '%s: gets one authorization that stays unused, and the money comes back when it expires',
    async (path) => {
      const [before, money] = [await wallet(), await chainBalance()]
      const answer = await pay(path)
      const id = String(answer.body.payment?.id ?? answer.body.paymentId)
      expect(id).toMatch(/^pay_/)
      expect(seller.payments.get(path)).toHaveLength(1)
      // The hold stays for as long as the authorization could still be used.
      expect((await wallet()).pendingLocks).toEqual({ [id]: 0.25 })
      service.clock.forward(10_000)
      await service.outgoingPayments.reconcile()
      expect((await status(id))['status']).toBe('pending')
      expect((await wallet()).totalLocked).toBe(0.25)
      await world.expire()
      expect((await status(id))['status']).toBe('returned')
      expect(await wallet()).toEqual(before)
      expect(await chainBalance()).toBe(money)
      await expect(seller.settle(path)).rejects.toThrow('not settled')
    },
  )

  test.each(['/v1/settle-and-ask-again', '/v2/settle-and-500', '/v2/settle-and-hang-up', '/mpp/settle-and-hang-up'])(
    '%s: it took the money, once',
    async (path) => {
      const [before, money] = [await wallet(), await chainBalance()]
      const answer = await pay(path)
      const id = String(answer.body.payment?.id ?? answer.body.paymentId)
      service.clock.forward(70_000)
      await service.outgoingPayments.reconcile()
      expect(await status(id)).toMatchObject({ status: 'settled', txHash: expect.stringMatching(/^0x/) })
      expect((await wallet()).balance).toBeCloseTo(before.balance - 0.25, 6)
      expect(await chainBalance()).toBe(money - 250_000n)
      await world.expire()
      expect((await wallet()).balance).toBeCloseTo(before.balance - 0.25, 6)
    },
  )

  test("a seller that never answers is a 504 with the payment's id, and the money comes back", async () => {
    const before = await wallet()
    const { status: code, body } = await pay('/v1/silence')
    expect(code).toBe(504)
    expect(body).toMatchObject({
      code: 'response_timeout',
      paymentId: expect.stringMatching(/^pay_/),
      statusUrl: expect.stringContaining('/v1/pay/pay_'),
    })
    await world.expire()
    expect(await wallet()).toEqual(before)
    expect(seller.payments.get('/v1/silence')).toHaveLength(1)
    // A seller that never responds has seen no authorization.
    const silent = await pay('/never')
    expect([silent.status, silent.body.code, silent.body.paymentId]).toEqual([504, 'response_timeout', undefined])
    expect(await wallet()).toEqual(before)
  })

  test('a repeated Idempotency-Key sends the same authorization, and pays once', async () => {
    const [before, money] = [await wallet(), await chainBalance()]
    const lost = await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-lost' })
    expect(lost.status).toBe(502)
    // The refusal keeps the payment's id: a caller who believed that nothing was taken would pay a second time.
    await service.outflow.setPaused(true)
    const paused = await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-lost' })
    await service.outflow.setPaused(false)
    expect([paused.status, paused.body.code, paused.body.paymentId]).toEqual([
      503,
      'payouts_paused',
      lost.body.paymentId,
    ])
    expect(paused.body.error).toMatch(/a new one would pay again/)
    const again = await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-lost' })
    expect(again.body.paymentId).toBe(lost.body.paymentId)
    const payments = seller.payments.get('/v2/hang-up')!
    expect(payments.at(-1)).toBe(payments.at(-2))
    await seller.settle('/v2/hang-up', payments.length - 1)
    service.clock.forward(70_000)
    await service.outgoingPayments.reconcile()
    const done = await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-lost' })
    expect(done.body).toMatchObject({ payment: { status: 'settled' }, response: null })
    expect(seller.payments.get('/v2/hang-up')).toHaveLength(payments.length)
    expect(money - (await chainBalance())).toBeLessThanOrEqual(500_000n)
    expect(before.balance - (await wallet()).balance).toBeCloseTo(Number(money - (await chainBalance())) / 1e6, 6)
  })

  test('a payment that was given back is over: its key says so each time, and a new key pays anew', async () => {
    await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-over' })
    const payments = seller.payments.get('/v2/hang-up')!.length
    await world.expire()
    for (const attempt of [1, 2]) {
      const { status: code, body } = await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-over' })
      expect([attempt, code, body.code]).toEqual([attempt, 410, 'payment_returned'])
      expect(body).toMatchObject({ payment: { status: 'returned', reason: 'expired' }, paymentId: body.payment.id })
      expect(body.error).toMatch(/was given back[.] For a new payment, send the request with a new Idempotency-Key[.]$/)
    }
    expect(seller.payments.get('/v2/hang-up')).toHaveLength(payments)
    expect((await pay('/v2/hang-up', {}, { 'idempotency-key': 'pay-anew' })).status).toBe(502)
    expect(seller.payments.get('/v2/hang-up')).toHaveLength(payments + 1)
    await world.expire()
  })

  test('a payment of MPP has the same bytes in every try', async () => {
    const lost = await pay('/mpp/hang-up', {}, { 'idempotency-key': 'mpp-lost' })
    expect(lost.status).toBe(502)
    await pay('/mpp/hang-up', {}, { 'idempotency-key': 'mpp-lost' })
    const payments = seller.payments.get('/mpp/hang-up')!
    expect(payments.at(-1)).toBe(payments.at(-2))
    await seller.settle('/mpp/hang-up', payments.length - 1)
    service.clock.forward(70_000)
    await service.outgoingPayments.reconcile()
    const done = await pay('/mpp/hang-up', {}, { 'idempotency-key': 'mpp-lost' })
    expect(done.body).toMatchObject({ payment: { status: 'settled', protocol: 'mpp' }, response: null })
  })

  test('a seller that repeats its challenge is paid once for it, and nothing stays locked', async () => {
    expect((await pay('/mpp/repeat')).status).toBe(200)
    const before = await wallet()
    const { status: code, body } = await pay('/mpp/repeat')
    expect([code, body.code]).toEqual([502, 'challenge_repeated'])
    expect(seller.payments.get('/mpp/repeat')).toHaveLength(1)
    expect(await wallet()).toEqual(before)
  })

  test('the Authorization header of the caller is never replaced', async () => {
    const headers = { Authorization: 'Bearer of-the-api' }
    const refused = await pay('/mpp/taken', { headers })
    expect([refused.status, refused.body.code, refused.body.reasons]).toEqual([502, 'no_acceptable_offer', ['header']])
    expect(refused.body.error).toMatch(/a header that your request uses itself/)
    expect((await pay('/mpp/own-header', { headers })).status).toBe(200)
    const payment = { Authorization: 'Payment eyJ9' }
    expect((await pay('/mpp/taken', { headers: payment })).status).toBe(400)
  })

  test('takes the cheapest offer of a seller with both protocols, and x402 for equal ones', async () => {
    const equal = await pay('/both/equal')
    expect(equal.body.payment).toMatchObject({ protocol: 'x402', amount: 0.25 })
    const cheaper = await pay('/both/cheaper')
    expect(cheaper.body.payment).toMatchObject({ protocol: 'mpp', amount: 0.2 })
    const only = await pay('/both/cheaper', { headers: { authorization: 'Bearer of-the-api' } })
    expect(only.body.payment).toMatchObject({ protocol: 'x402', amount: 0.25 })
  })

  describe('as money that leaves', () => {
    const limitedKey = async () => {
      const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'L', limits: { perDay: 50 } } })).body
      return (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body.secret as string
    }

    test('counts with withdrawals: where those have used up the day, nothing is signed', async () => {
      const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
      const { left } = await service.outflow.terms(owner)
      const before = { id: 'wdr_before', owner, kind: 'withdrawal' as const, to: recipient, amount: usdc(left! - 1n) }
      await service.database.statements.together((inside) => service.outflow.take(before, inside))
      const [locked, key] = [(await wallet()).totalLocked, await limitedKey()]
      for (const headers of [{}, { authorization: `Bearer ${key}` }]) {
        const { status: code, body } = await pay('/v2/over', {}, headers)
        expect([code, body.code, body.limit, body.requested]).toEqual([403, 'withdrawal_limit', 1000, 0.25])
      }
      expect([seller.payments.get('/v2/over'), (await wallet()).totalLocked]).toEqual([undefined, locked])
      await service.database.statements.together((inside) => service.outflow.giveBack('wdr_before', inside))
      expect((await pay('/v2/over')).status).toBe(200)
      expect((await service.outflow.terms(owner)).left).toBe(left! - 250_000n)
    })

    test('while payouts are paused sends no request to the seller', async () => {
      await service.outflow.setPaused(true)
      try {
        const { status: code, body } = await pay('/v2/paused')
        expect([code, body.code, seller.unpaidRequests.get('/v2/paused')]).toEqual([503, 'payouts_paused', undefined])
      } finally {
        await service.outflow.setPaused(false)
      }
      expect((await pay('/v2/paused')).status).toBe(200)
    })
  })

  describe('for an agent', () => {
    async function agentKey(rules: object): Promise<{ id: string; key: string }> {
      const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body
      const { secret } = (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body
      return { id: agent.id, key: secret }
    }
    const payAs = (key: string, path: string, more: object = {}) =>
      service.call('POST', '/v1/pay', { key, body: { url: seller.url(path), maxAmount: 1, ...more } })

    test('without any limit is refused, and sends no request to the seller', async () => {
      const { key } = await agentKey({ approvalAbove: 5 })
      const { status: code, body } = await payAs(key, '/v2/unlimited')
      expect([code, body.code, seller.unpaidRequests.get('/v2/unlimited')]).toEqual([403, 'limits_required', undefined])
    })

    test('stays within its limits, to which a released payment returns its amount', async () => {
      const { id, key } = await agentKey({ limits: { lifetime: 0.5 } })
      const answers = await Promise.all(['/v2/a', '/v2/b', '/v2/c', '/v2/d'].map((path) => payAs(key, path)))
      expect(answers.map(({ status: code }) => code).sort()).toEqual([200, 200, 403, 403])
      expect(answers.find(({ status: code }) => code === 403)?.body).toMatchObject({
        code: 'spending_limit',
        limit: 'lifetime',
        spent: 0.5,
        requested: 0.25,
      })
      const { decisions } = (await person.call('GET', `/v1/agents/${id}/decisions?outcome=allowed`)).body
      expect((decisions as Record<string, unknown>[]).map(({ kind, domain }) => [kind, domain])).toEqual(
        Array.from({ length: 2 }, () => ['pay', new URL(seller.url('/')).host]),
      )
    })

    test('refuses a host that its rules deny, without a request', async () => {
      const { id, key } = await agentKey({ limits: { perDay: 5 }, domains: { allow: ['*.good.test'] } })
      const { status: code, body } = await payAs(key, '/v2/unasked')
      expect([code, body.code, body.limit]).toEqual([403, 'spending_limit', 'domains.allow'])
      expect(seller.unpaidRequests.get('/v2/unasked')).toBeUndefined()
      const { decisions } = (await person.call('GET', `/v1/agents/${id}/decisions`)).body
      expect(decisions).toHaveLength(1)
    })

    test('above the approval amount waits for a person, and is then paid once', async () => {
      const { key } = await agentKey({ limits: { perDay: 5 }, approvalAbove: 0.2 })
      const held = await payAs(key, '/v1/approved')
      expect([held.status, held.body.code]).toEqual([202, 'approval_required'])
      expect(seller.payments.get('/v1/approved')).toBeUndefined()
      await person.call('POST', `/v1/approvals/${String(held.body.approvalId)}/approve`)
      const [one, other] = await Promise.all([payAs(key, '/v1/approved'), payAs(key, '/v1/approved')])
      expect([one.status, other.status].sort()).toEqual([200, 202])
      expect(seller.payments.get('/v1/approved')).toHaveLength(1)
    })

    test('counts a call of an address that requires no payment, and refuses it above the calls per minute', async () => {
      service.clock.forwardToMinute()
      const { id, key } = await agentKey({ limits: { perDay: 5 }, rate: { callsPerMinute: 2 } })
      const free = () => payAs(key, '/free')
      for (const { body } of [await free(), await free()]) expect(body.response.body).toBe('for nothing')
      expect((await free()).body).toMatchObject({ code: 'spending_limit', limit: 'callsPerMinute' })
      const { decisions } = (await person.call('GET', `/v1/agents/${id}/decisions?outcome=allowed`)).body
      expect(decisions).toMatchObject([
        { kind: 'pay', amount: 0 },
        { kind: 'pay', amount: 0 },
      ])
    })

    test('sends no more calls than its calls per minute, also at once and where no answer comes', async () => {
      service.clock.forwardToMinute()
      const { id, key } = await agentKey({ limits: { perDay: 5 }, rate: { callsPerMinute: 3 } })
      const sent = () => seller.unpaidRequests.get('/free') ?? 0
      const before = sent()
      const answers = await Promise.all(Array.from({ length: 8 }, () => payAs(key, '/free')))
      expect(answers.filter(({ status: code }) => code === 200)).toHaveLength(3)
      expect(sent() - before).toBe(3)
      service.clock.forwardToMinute()
      const codes = []
      for (let call = 0; call < 4; call++) codes.push((await payAs(key, '/hang-up-first')).body.code)
      expect(codes.slice(3)).toEqual(['spending_limit'])
      expect(seller.unpaidRequests.get('/hang-up-first')).toBe(3)
      service.clock.forwardToMinute()
      expect((await payAs(key, '/v2/counted-once')).status).toBe(200)
      expect((await person.call('GET', `/v1/agents/${id}/policy`)).body.calls).toMatchObject({ made: 1 })
    })

    test('shows the agent its own payments only', async () => {
      const { key } = await agentKey({ limits: { perDay: 5 } })
      const { payment } = (await payAs(key, '/v2/own')).body
      const other = await agentKey({ limits: { perDay: 5 } })
      expect((await service.call('GET', `/v1/pay/${String(payment.id)}`, { key })).body.payment).toEqual(payment)
      expect((await service.call('GET', `/v1/pay/${String(payment.id)}`, { key: other.key })).status).toBe(404)
      expect((await service.call('GET', '/v1/pay', { key })).body).toMatchObject({ total: 1 })
      expect((await service.call('GET', '/v1/pay', { key: other.key })).body).toMatchObject({ total: 0 })
    })
  })
})
