import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { addSale, refund, rich, work } from '../../refunds/sales.ts'

describe('POST /payments/{id}/refund → 202', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  const payment = async (person: TestPerson, id: string) =>
    (await person.call('GET', `/v1/payments/${id}`)).body.payment as Record<string, unknown>
  const wallet = async (person: TestPerson) =>
    (await person.call('GET', '/v1/wallet/balance')).body.wallet as { balance: number }

  test('part of a payment: held at once, then paid to its payer; the rest can follow, and then it is refunded', async () => {
    const person = await rich(service, 10)
    const payer = `0x${'b1'.repeat(20)}`
    const sale = await addSale(service, person, { payer })
    const { status, body } = await refund(person, sale, { amount: 0.4 })
    expect([status, body.refund]).toEqual([
      202,
      {
        ...{ id: expect.stringMatching(/^rfd_/), paymentId: sale, state: 'funded', amount: 0.4, currency: 'USDC' },
        ...{ network: 'base-sepolia', to: payer, from: 'wallet', reason: 'Not as described', requestedBy: 'seller' },
        ...{
          waitsFor: null,
          failure: null,
          txHash: null,
          explorerUrl: null,
          test: false,
          expiresAt: null,
          toSign: null,
        },
        ...{ createdAt: expect.any(String), fundedAt: expect.any(String), sentAt: null, endedAt: null },
      },
    ])
    const { id } = body.refund as { id: string }
    expect(await wallet(person)).toMatchObject({ balance: 10, availableBalance: 9.6, pendingLocks: { [id]: 0.4 } })
    expect(await payment(person, sale)).toMatchObject({ state: 'paid', refunded: 0.4, refundable: 0.6 })
    await work(service)
    expect(await payment(person, sale)).toMatchObject({
      ...{ state: 'paid', refunded: 0.4 },
      refunds: [{ id, state: 'confirmed', txHash: `simulated:${id}`, sentAt: expect.any(String) }],
    })
    expect((await refund(person, sale, {})).body.refund).toMatchObject({ amount: 0.6, state: 'funded' })
    await work(service)
    expect(await payment(person, sale)).toMatchObject({ state: 'refunded', refunded: 1, refundable: 0 })
    expect(await wallet(person)).toMatchObject({ balance: 9, availableBalance: 9 })
    const { transactions } = (await person.call('GET', '/v1/wallet/transactions')).body
    expect((transactions as { type: string }[]).map(({ type }) => type)).toEqual(['refund', 'refund', 'deposit'])
    expect((await person.call('GET', '/v1/wallet/withdrawals')).body).toMatchObject({ total: 0, withdrawals: [] })
    expect((await person.call('GET', `/v1/wallet/withdrawals/${id}`)).status).toBe(404)
    expect(await service.ledger.differences()).toEqual([])
  })

  test('one key makes one refund, and another body with it is refused', async () => {
    const person = await rich(service, 10)
    const sale = await addSale(service, person)
    const key = { 'idempotency-key': 'once' }
    const [first, again] = [
      await refund(person, sale, { amount: 0.3 }, key),
      await refund(person, sale, { amount: 0.3 }, key),
    ]
    expect(again.body).toEqual(first.body)
    expect((await refund(person, sale, { amount: 0.4 }, key)).body.code).toBe('idempotency_conflict')
    expect(await payment(person, sale)).toMatchObject({ refunded: 0.3 })
  })

  test('a hundred concurrent refunds never exceed the payment', async () => {
    const person = await rich(service, 100)
    const sale = await addSale(service, person)
    const answers = await Promise.all(Array.from({ length: 100 }, () => refund(person, sale, { amount: 0.06 })))
    const codes = answers.map(({ status, body }) => (status === 202 ? 'done' : String(body.code)))
    expect(codes.filter((code) => code === 'done')).toHaveLength(16)
    expect(new Set(codes)).toEqual(new Set(['done', 'refund_exceeds_payment']))
    expect(await payment(person, sale)).toMatchObject({ refunded: 0.96, refundable: 0.04 })
    await work(service)
    // Five cents are the least, except where less is left.
    expect((await refund(person, sale, { amount: 0.03 })).body).toMatchObject({
      details: { amount: 'must be at least 0.04' },
    })
    expect((await refund(person, sale, {})).body.refund).toMatchObject({ amount: 0.04 })
    await work(service)
    expect((await wallet(person)).balance).toBe(99)
    expect(await service.ledger.differences()).toEqual([])
  })

  test('without enough balance it waits with the missing amount, and proceeds after a deposit', async () => {
    const person = await rich(service, 0.25)
    const sale = await addSale(service, person)
    const { status, body } = await refund(person, sale, {})
    expect([status, body.refund]).toMatchObject([
      202,
      { state: 'requested', waitsFor: { code: 'insufficient_balance', missing: 0.75 }, expiresAt: expect.any(String) },
    ])
    // It counts already, so nothing can be promised twice.
    expect((await refund(person, sale, { amount: 0.1 })).status).toBe(409)
    service.clock.forward(6_000)
    await work(service)
    expect(await payment(person, sale)).toMatchObject({ refunds: [{ state: 'requested' }] })
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
    service.clock.forward(6_000)
    await work(service)
    expect(await payment(person, sale)).toMatchObject({ state: 'refunded', refunds: [{ state: 'confirmed' }] })
    expect((await wallet(person)).balance).toBe(0.25)
  })

  test('a refund waiting for 14 days fails, and its amount is free again', async () => {
    const person = await rich(service, 0.25)
    const sale = await addSale(service, person)
    await refund(person, sale, { amount: 0.9 })
    service.clock.forward(14 * 86_400_000 - 1_000)
    await work(service)
    expect(await payment(person, sale)).toMatchObject({ refunded: 0.9, refunds: [{ state: 'requested' }] })
    service.clock.forward(301_000)
    await work(service)
    expect(await payment(person, sale)).toMatchObject({
      ...{ state: 'paid', refunded: 0, refundable: 1 },
      refunds: [{ state: 'failed', failure: { code: 'insufficient_balance' }, txHash: null, waitsFor: null }],
    })
    expect((await refund(person, sale, { amount: 0.2 })).body.refund).toMatchObject({ state: 'funded' })
  })

  test('a simulated payment: confirmed at once, and no money moves', async () => {
    const person = await service.person()
    const sale = await addSale(service, person, { simulated: true, payer: `0x${'00'.repeat(20)}` })
    const { body } = await refund(person, sale, { amount: 0.5 })
    const { id } = body.refund as { id: string }
    expect(body.refund).toMatchObject({ state: 'confirmed', from: 'simulated', test: true, txHash: `simulated:${id}` })
    expect((await wallet(person)).balance).toBe(0)
    expect((await refund(person, sale, {})).body.refund).toMatchObject({ amount: 0.5, state: 'confirmed' })
    expect(await payment(person, sale)).toMatchObject({ state: 'refunded', test: true })
  })

  test("a payment from an account of this server: back into the buyer's balance, in one transaction", async () => {
    const [person, buyer] = [await rich(service, 10), await service.person()]
    const payer = `0x${'b2'.repeat(20)}`
    await service.database.statements.run(
      `INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'sandbox', now())`,
      [payer, buyer.caller.user.id],
    )
    const sale = await addSale(service, person, { payer })
    expect((await refund(person, sale, {})).body.refund).toMatchObject({
      state: 'confirmed',
      from: 'account',
      txHash: null,
    })
    expect([(await wallet(person)).balance, (await wallet(buyer)).balance]).toEqual([9, 1])
    const { transactions } = (await buyer.call('GET', '/v1/wallet/transactions')).body
    expect(transactions).toMatchObject([{ type: 'refund', amount: 1 }])
    expect(await payment(person, sale)).toMatchObject({ state: 'refunded' })
    expect(await service.ledger.differences()).toEqual([])
  })
})
