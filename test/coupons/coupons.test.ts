import type { QuoteView } from '../../service/checkouts/views.ts'
import { LIVE, openWorld, signed, until, type World } from '../checkouts/world.ts'
import { newToken } from '../chaos/token.ts'
import type { TestAccount } from '../harness/chain.ts'
import { lockWaitedFor } from '../harness/locks.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { Answer } from '../harness/service.ts'
import { buy as buyAt } from '../harness/wallet.ts'

/** Codes that take something off: how often they are used, whoever comes, and what strangers learn of them. */
describe('coupons', () => {
  let world: World
  let serial = 0

  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
  })
  afterAll(() => world.close())

  const post = (path: string, body: object = {}) => world.seller.call('POST', path, { body })
  const make = async (terms: object): Promise<{ id: string; code: string }> => {
    const created = await post('/v1/coupons', { code: `CODE-${String(serial++)}`, ...terms })
    if (created.status !== 201) throw new Error(created.text)
    return created.body.coupon as { id: string; code: string }
  }
  const look = async (id: string) => (await world.seller.call('GET', `/v1/coupons/${id}`)).body.coupon as unknown
  const sell = async (terms: object = {}): Promise<string> =>
    (await world.sell({ price: 2, coupons: true, ...terms })).id
  const simulate = (chk: string, coupon?: string, more: object = {}, key?: string): Promise<Answer> =>
    world.call('POST', `/p/${chk}/pay`, {
      body: { input: {}, simulate: true, ...(coupon === undefined ? {} : { choice: { coupon } }), ...more },
      ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
    })
  const quoted = async (chk: string, choice: object): Promise<QuoteView> =>
    (await world.call('POST', `/p/${chk}/quote`, { body: { choice } })).body as QuoteView
  const buy = async (payer: TestAccount, chk: string, choice: object): Promise<Answer> => {
    const quote = await quoted(chk, choice)
    if (quote.paymentRequirements === null) throw new Error('nothing to sign')
    const paymentPayload = await signed(payer, world.chain, quote.paymentRequirements)
    return await world.call('POST', `/p/${chk}/pay`, {
      body: { input: {}, choice, quoteId: quote.quote.quoteId, paymentPayload },
    })
  }
  const counted = (answers: readonly Answer[], code: string) =>
    answers.filter(({ body }) => (body.code ?? body.payment?.lines.coupon) === code).length

  test('are used exactly 20 times by 200 concurrent buyers; the others get the reason', async () => {
    const chk = await sell({ testMode: true })
    const { id, code } = await make({ percent: 25, max: 20 })
    const answers = await Promise.all(Array.from({ length: 200 }, () => simulate(chk, code.toLowerCase())))
    expect([counted(answers, code), counted(answers, 'coupon_used_up')]).toEqual([20, 180])
    const lines = { unit: 2, quantity: 1, subtotal: 2, coupon: code, discount: 0.5, total: 1.5 }
    expect(answers.find(({ status }) => status === 200)!.body.payment).toMatchObject({ amount: 1.5, lines })
    const refused = answers.find(({ status }) => status === 409)!
    expect(refused.body.error).toBe(
      'This code has been used up. Nothing was charged. Pay without it, or use another code.',
    )
    const inFull = await Promise.all(Array.from({ length: 20 }, () => simulate(chk)))
    expect(inFull.map(({ body }) => body.payment.amount as number)).toEqual(Array<number>(20).fill(2))
    // Simulated purchases use up nothing that is worth money.
    expect(await look(id)).toMatchObject({ used: 0, tested: 20 })
  })

  test('are used by three of eight concurrent payers with a limit of three; the others pay nothing', async () => {
    const chk = await sell()
    const { id, code } = await make({ amount: 0.5, max: 3 })
    const payers: TestAccount[] = []
    for (let n = 0; n < 8; n++) payers.push(await world.chain.payer(10_000_000n))
    const answers = await Promise.all(payers.map((payer) => buy(payer, chk, { coupon: code })))
    expect([counted(answers, code), counted(answers, 'coupon_used_up')]).toEqual([3, 5])
    const balances = await Promise.all(payers.map(({ address }) => usdcOf(world.chain, address)))
    expect(balances.map(String).sort()).toEqual([
      ...Array<string>(5).fill('10000000'),
      ...Array<string>(3).fill('8500000'),
    ])
    const late = payers[answers.findIndex(({ status }) => status === 409)]!
    expect((await buy(late, chk, {})).body.payment).toMatchObject({ status: 'paid', amount: 2 })
    expect(await look(id)).toMatchObject({ used: 3, tested: 0 })
    const { body } = await world.seller.call('GET', `/v1/checkouts/${chk}/payments`)
    const payments = body.payments as { lines: { coupon: unknown } }[]
    expect(payments.filter(({ lines }) => lines.coupon === code)).toHaveLength(3)
  })

  test('regain a use once when its payment fails, however often it is repeated', async () => {
    const chk = await sell({ testMode: true })
    const { id, code } = await make({ percent: 50, max: 2 })
    expect((await simulate(chk, code)).status).toBe(200)
    const key = 'declined'
    const retries = Array.from({ length: 20 }, () => simulate(chk, code, { outcome: 'declined' }, key))
    const failed = (await Promise.all(retries)).filter(({ status }) => status === 200)
    expect(new Set(failed.map(({ body }) => `${String(body.payment.id)} ${String(body.payment.status)}`)).size).toBe(1)
    expect(await look(id)).toMatchObject({ tested: 1 })
    // One that is paid counts once, however many requests were made for it.
    const paid = await Promise.all(Array.from({ length: 10 }, () => simulate(chk, code, {}, 'paid')))
    expect(new Set(paid.filter(({ status }) => status === 200).map(({ body }) => body.payment.id as string)).size).toBe(
      1,
    )
    expect(await look(id)).toMatchObject({ tested: 2 })
  })

  test('regain a use when the work fails, by the seller’s report or at the deadline', async () => {
    const chk = await sell({ testMode: true, capture: 'onSuccess', runSeconds: 30 })
    const { id, code } = await make({ percent: 50, max: 1 })
    const first = (await simulate(chk, code)).body.payment
    expect((await simulate(chk, code)).body.code).toBe('coupon_used_up')
    const reports = Array.from({ length: 20 }, () =>
      post(`/v1/payments/${String(first.id)}/outcome`, { status: 'failed' }),
    )
    await Promise.all(reports)
    expect(await look(id)).toMatchObject({ tested: 0 })
    expect((await simulate(chk, code)).status).toBe(202)
    expect(await look(id)).toMatchObject({ tested: 1 })
    world.service.clock.forward(31_000)
    await until(async () => ((await look(id)) as { tested: number }).tested === 0)
  })

  test('are limited per wallet, also for concurrent purchases', async () => {
    const chk = await sell()
    const { id, code } = await make({ percent: 10, perCustomer: 1 })
    const [one, other] = [await world.chain.payer(10_000_000n), await world.chain.payer(10_000_000n)]
    const both = await Promise.all([buy(one, chk, { coupon: code }), buy(one, chk, { coupon: code })])
    expect([counted(both, code), counted(both, 'coupon_used_by_customer')]).toEqual([1, 1])
    expect((await buy(other, chk, { coupon: code })).body.payment).toMatchObject({ status: 'paid', amount: 1.8 })
    expect(await look(id)).toMatchObject({ used: 2 })
  })

  test('do not fit a quote with another code, none, or another quantity, nor after they are archived', async () => {
    const chk = await sell({ pricing: { kind: 'quantity', max: 5 } })
    const half = await make({ percent: 50 })
    const tenth = await make({ percent: 10 })
    const payer = await world.chain.payer(50_000_000n)
    const quote = await quoted(chk, { quantity: 2, coupon: half.code })
    expect(quote).toMatchObject({
      total: 2,
      lines: { unit: 2, quantity: 2, subtotal: 4, coupon: half.code, discount: 2 },
    })
    const paymentPayload = await signed(payer, world.chain, quote.paymentRequirements!)
    const pay = (choice: object, query = '') =>
      world.call('POST', `/p/${chk}/pay${query}`, {
        body: { input: {}, choice, quoteId: quote.quote.quoteId, paymentPayload },
      })
    for (const choice of [
      { quantity: 2, coupon: tenth.code },
      { quantity: 2 },
      { quantity: 5, coupon: half.code },
      {},
    ]) {
      const { status, body } = await pay(choice, `?coupon=${half.code}&quantity=2`)
      expect([status, body.code]).toEqual([400, 'quote_mismatch'])
    }
    await post(`/v1/coupons/${half.id}/archive`)
    expect((await pay({ quantity: 2, coupon: half.code })).body.code).toBe('coupon_invalid')
    // A new one with the same code takes something else off.
    await make({ code: half.code, percent: 40 })
    expect((await pay({ quantity: 2, coupon: half.code })).body.code).toBe('quote_mismatch')
    expect(await usdcOf(world.chain, payer.address)).toBe(50_000_000n)
  })

  test('an agent names it in the address, and a code that ends soon ends the quote', async () => {
    const chk = await sell()
    const end = new Date(world.service.clock.now().getTime() + 60_000)
    const { code } = await make({ percent: 50, until: end.toISOString() })
    const unpaid = await world.call('POST', `/p/${chk}?coupon=${code}`, { body: {} })
    const [v2] = JSON.parse(Buffer.from(unpaid.headers.get('payment-required')!, 'base64').toString()).accepts
    expect([unpaid.status, v2.amount]).toEqual([402, '1000000'])
    expect((await quoted(chk, { coupon: code })).quote.expiresAt).toBe(end.toISOString())
  })

  describe('for the whole price', () => {
    const take = (chk: string, coupon: string, more: object = {}, key?: string): Promise<Answer> =>
      world.call('POST', `/p/${chk}/pay`, {
        body: { input: {}, choice: { coupon }, free: true, token: newToken(), ...more },
        ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
      })

    test('200 concurrent buyers get exactly 20 orders, each delivered once, for nothing', async () => {
      const chk = await sell()
      const { id, code } = await make({ percent: 100, max: 20 })
      const quote = await quoted(chk, { coupon: code })
      expect(quote).toMatchObject({ total: 0, paymentRequirements: null })
      await world.forget()
      const quoteId = quote.quote.quoteId
      const answers = await Promise.all(Array.from({ length: 200 }, () => take(chk, code, { quoteId })))
      expect([counted(answers, code), counted(answers, 'coupon_used_up')]).toEqual([20, 180])
      const paid = answers.filter(({ status }) => status === 200).map(({ body }) => body.payment as { id: string })
      expect(new Set(paid.map((one) => one.id)).size).toBe(20)
      expect(paid[0]).toMatchObject({ status: 'paid', amount: 0, lines: { unit: 2, discount: 2, total: 0 } })
      expect(await look(id)).toMatchObject({ used: 20, tested: 0 })
      await until(() => Promise.resolve(world.workflow.deliveries.length === 20))
      const { metadata } = JSON.parse(world.workflow.deliveries[0]!.body) as { metadata: object }
      expect(metadata).toMatchObject({ free: 'coupon', lines: { coupon: code, total: 0 } })
    })

    test('a repeat returns the same purchase; without its token, or with another input, it is refused', async () => {
      const chk = await sell({ fields: [{ name: 'site', type: 'text' }] })
      const { id, code } = await make({ percent: 100 })
      const token = newToken()
      const mine = await Promise.all(Array.from({ length: 20 }, () => take(chk, code, { token }, 'mine')))
      const ids = mine.filter(({ status }) => status === 200).map(({ body }) => body.payment.id as string)
      expect([new Set(ids).size, (await look(id)) as object]).toMatchObject([1, { used: 1 }])
      expect((await take(chk, code, { token }, 'mine')).body.payment).toMatchObject({ id: ids[0] })
      for (const thief of [{}, { input: { site: 'another' }, token }]) {
        const { status, body } = await take(chk, code, thief, 'mine')
        expect([status, body.payment]).toEqual([409, undefined])
      }
      expect(await look(id)).toMatchObject({ used: 1 })
    })

    test('failed work returns its use, once', async () => {
      const chk = await sell({ capture: 'onSuccess' })
      const { id, code } = await make({ percent: 100, max: 1 })
      const { body } = await take(chk, code)
      expect((await take(chk, code)).body.code).toBe('coupon_used_up')
      const failed = { status: 'failed' }
      const reports = Array.from({ length: 20 }, () =>
        post(`/v1/payments/${body.payment.id as string}/outcome`, failed),
      )
      await Promise.all(reports)
      expect(await look(id)).toMatchObject({ used: 0 })
      expect((await take(chk, code)).status).toBe(202)
    })

    test('it cannot buy anything with a price left, nor through any other channel', async () => {
      const all = (await make({ percent: 100 })).code
      const half = (await make({ percent: 50 })).code
      const each = (await make({ percent: 100, perCustomer: 1 })).code
      const chk = await sell({ plans: [{ id: 'ten', name: 'Ten', price: 5, kind: 'runs', runs: 10 }] })
      const tested = await sell({ testMode: true })
      const refused = [
        await take(chk, half),
        await take(chk, each),
        await take(chk, all, { choice: { coupon: all, plan: 'ten' } }),
        await take(chk, all, { choice: {} }),
        await take(chk, all, { token: undefined }),
        await take(chk, all, { simulate: true }),
        await simulate(tested, all),
        await world.call('POST', `/p/${chk}?coupon=${all}`, { body: {} }),
      ]
      expect(refused.map(({ status, body }) => [status, ...Object.keys((body.details ?? {}) as object)])).toEqual([
        [400, 'free'],
        [400, 'choice.coupon'],
        [400, 'choice.plan'],
        [400, 'free'],
        [400, 'token'],
        [400, 'paymentPayload'],
        [400, 'choice.coupon'],
        [400, 'choice.coupon'],
      ])
      for (const free of [tested, await sell({ testMode: true, network: 'base' })]) {
        expect((await take(free, all)).body.payment).toMatchObject({ status: 'paid', amount: 0 })
      }
      const none = await take(await sell({ coupons: false }), all)
      expect(none.body.details).toEqual({ 'choice.coupon': 'must be absent: this checkout takes no codes' })
    })
  })

  test.each<[string, object, string]>([
    ['a code of two letters', { code: 'AB' }, 'code'],
    ['a code with a space inside', { code: 'A B C' }, 'code'],
    ['nothing off', { percent: undefined }, 'percent'],
    ['both', { amount: 1 }, 'amount'],
    ['more than all', { percent: 101 }, 'percent'],
    ['half a percent', { percent: 0.5 }, 'percent'],
    ['a limit of zero', { max: 0 }, 'max'],
    ['an invalid time', { until: 'tomorrow' }, 'until'],
    ['an invalid checkout id', { checkouts: ['chk_1'] }, 'checkouts.0'],
  ])('%s is refused by name', async (...[, terms, name]) => {
    const { status, body } = await post('/v1/coupons', { code: 'WRONG', percent: 10, ...terms })
    expect([status, Object.keys(body.details as object)]).toEqual([400, [name]])
  })

  test('have changeable limits, a fixed discount, and a code unique in their account', async () => {
    const { id, code } = await make({ code: ' spring-1 ', percent: 10, max: 5 })
    expect(code).toBe('SPRING-1')
    const change = (body: object, at = id) => world.seller.call('PATCH', `/v1/coupons/${at}`, { body })
    expect((await change({ perCustomer: 2, max: null })).body.coupon).toMatchObject({
      max: null,
      perCustomer: 2,
      percent: 10,
    })
    expect((await change({ percent: 90 })).body.details).toHaveProperty('percent')
    expect((await post('/v1/coupons', { code: 'Spring-1', percent: 20 })).body.code).toBe('coupon_code_taken')
    const other = await world.service.person()
    expect((await other.call('POST', '/v1/coupons', { body: { code, percent: 20 } })).status).toBe(201)
    expect((await other.call('PATCH', `/v1/coupons/${id}`, { body: { max: 1 } })).status).toBe(404)
    const chk = await sell()
    for (let n = 0; n < 2; n++) await buy(await world.chain.payer(10_000_000n), chk, { coupon: code })
    expect((await change({ max: 1 })).body.details).toEqual({
      max: 'must be at least 2: so many purchases have used it',
    })
    expect((await change({ max: 2 })).body.coupon).toMatchObject({ max: 2, used: 2 })
    const archived = (await post(`/v1/coupons/${id}/archive`)).body.coupon
    expect(archived.archivedAt).not.toBeNull()
    expect((await change({ max: 9 })).body.code).toBe('coupon_archived')
    const { body } = await world.seller.call('GET', '/v1/coupons?archived=true&limit=100')
    expect((body.coupons as { id: string }[]).map((one) => one.id)).toContain(id)
  })

  test('keep both of two changes that are made at once', async () => {
    const { id } = await make({ percent: 10 })
    const { pool, statements } = world.service.database
    const other = await pool.connect()
    await other.query('BEGIN')
    await other.query('SELECT 1 FROM coupon WHERE id = $1 FOR UPDATE', [id])
    const changes = [{ max: 5 }, { perCustomer: 2 }].map((body) =>
      world.seller.call('PATCH', `/v1/coupons/${id}`, { body }),
    )
    await lockWaitedFor(statements, changes.length)
    await other.query('COMMIT')
    other.release()
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200])
    expect(await look(id)).toMatchObject({ max: 5, perCustomer: 2 })
  })

  // The last one: after it this address has no answer about codes for an hour.
  test('answer alike for unknown and ended codes, and allow thirty guesses an hour', async () => {
    const [chk, another] = [await sell({ testMode: true }), await sell({ testMode: true })]
    const good = await make({ percent: 10 })
    const ended = await make({ percent: 10, until: new Date(world.service.clock.now().getTime() - 1).toISOString() })
    const elsewhere = await make({ percent: 10, checkouts: [another] })
    const archived = await make({ percent: 10 })
    await post(`/v1/coupons/${archived.id}/archive`)
    expect((await simulate(another, elsewhere.code)).status).toBe(200)
    const answerTo = async (code: string) => {
      const { status, body } = await simulate(chk, code)
      return { ...(body as object), status, requestId: null }
    }
    const unknown = await answerTo('NO-SUCH-CODE')
    expect(unknown).toMatchObject({ status: 400, code: 'coupon_invalid' })
    for (const { code } of [ended, elsewhere, archived]) expect(await answerTo(code)).toEqual(unknown)
    let guesses = 0
    while (
      (await world.call('POST', `/p/${chk}/quote`, { body: { choice: { coupon: `GUESS-${String(guesses)}` } } }))
        .status === 400
    )
      guesses++
    expect(guesses).toBeGreaterThan(20)
    expect(guesses).toBeLessThanOrEqual(30)
    expect((await simulate(chk, good.code)).status).toBe(429)
    // Who has no code pays as before.
    expect((await simulate(chk)).status).toBe(200)
  })
})

test('a code is not used up by test money in production', async () => {
  const world = await openWorld({ chain: true, person: 'production', environment: LIVE })
  try {
    const coupon = await world.seller.call('POST', '/v1/coupons', { body: { code: 'LAUNCH', percent: 50, max: 1 } })
    const look = async () =>
      (await world.seller.call('GET', `/v1/coupons/${String(coupon.body.coupon.id)}`)).body.coupon as unknown
    const { id } = await world.sell({ coupons: true })
    const url = `${world.service.origin}/p/${id}?coupon=LAUNCH`
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const payer = await world.chain.payer(1_000_000n)
    expect((await buyAt({ chain: world.chain, payer }, url, request)).body.payment).toMatchObject({ amount: 0.5 })
    expect(await look()).toMatchObject({ used: 0, tested: 1 })
    const quoted = async () => await world.call('POST', `/p/${id}/quote`, { body: { choice: { coupon: 'LAUNCH' } } })
    expect((await quoted()).body.code).toBe('coupon_used_up')
    const changed = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { network: 'base' } })
    expect([changed.status, (await quoted()).status]).toEqual([200, 200])
  } finally {
    await world.close()
  }
})
