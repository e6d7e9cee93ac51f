import { openWorld, type World } from '../../checkouts/world.ts'

describe('POST /p/{chk}/pay: 200', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false, chain: true })
  })
  afterAll(() => world.close())

  it('returns a simulated payment, field by field', async () => {
    const { id } = await world.sell({ testMode: true, price: 0.02, redirectUrl: 'https://example.com/thanks?a=1#done' })
    const { status, body } = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    expect(status).toBe(200)
    const pay: string = body.payment.id
    expect(pay).toMatch(/^pay_[0-9a-z]{26}$/)
    expect(body).toEqual({
      result: null,
      payment: {
        id: pay,
        checkoutId: id,
        status: 'paid',
        txHash: `simulated:${pay}`,
        amount: 0.02,
        lines: { unit: 0.02, quantity: 1, subtotal: 0.02, coupon: null, discount: 0, total: 0.02 },
        refunded: 0,
        refunds: [],
        collect: null,
        currency: 'USDC',
        network: 'base-sepolia',
        payer: `0x${'0'.repeat(40)}`,
        explorerUrl: null,
        reason: null,
        statusUrl: `http://localhost:0/p/${id}/payments/${pay}?token=${String(body.payment.token)}`,
        testMode: true,
        capture: 'onPayment',
        deadline: null,
        escrow: null,
        free: null,
        pass: null,
        createdAt: expect.stringMatching(/Z$/),
        paidAt: expect.stringMatching(/Z$/),
        redirectUrl: `https://example.com/thanks?a=1&checkout_id=${id}&payment_id=${pay}#done`,
        token: expect.stringMatching(/^tok_[\w-]{43}$/),
        receiptUrl: `http://localhost:0/receipts/${pay}?token=${String(body.payment.token)}`,
        signedReceipt: null,
        verifyUrl: null,
      },
      requests: [],
      delivery: {
        id: pay.replace('pay_', 'dlv_'),
        status: 'pending',
        attempts: 0,
        history: [],
        lastStatus: null,
        lastError: null,
        nextAttemptAt: expect.anything(),
        answer: null,
        failure: null,
        progress: [],
      },
    })
    const at = `/p/${id}/payments/${pay}`
    expect((await world.call('GET', `${at}?token=${String(body.payment.token)}`)).body).toEqual(body)
    // A caller with nothing but the id sees only the state.
    const stateAlone = {
      ...body.payment,
      redirectUrl: null,
      token: null,
      receiptUrl: null,
      statusUrl: `http://localhost:0${at}`,
    }
    expect((await world.call('GET', at)).body).toEqual({
      delivery: { ...body.delivery, history: null, nextAttemptAt: null },
      payment: stateAlone,
      requests: [],
      result: null,
    })
  })

  it('a simulated payment touches no ledger and no chain', async () => {
    const { id } = await world.sell({ testMode: true, network: 'base' })
    const before = await look()
    await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    expect(await look()).toEqual(before)

    async function look() {
      const [row] = await world.service.database.statements.run(
        'SELECT (SELECT count(*) FROM ledger_movement) AS movements, (SELECT count(*) FROM facilitator_settlement) AS settlements',
        [],
      )
      return row
    }
  })

  it('a real payment answers its transaction and explorer link; omitted fields get their defaults', async () => {
    world.service.facilitator.start()
    const fields = [
      { name: 'a', type: 'text', default: 'given' },
      { name: 'b', type: 'json' },
    ]
    const { id } = await world.sell({ fields })
    const payer = await world.chain.payer(1_000_000n)
    const body = { input: { b: '{"x":[1,2]}' }, paymentPayload: await world.sign(payer, id) }
    const { body: paid } = await world.call('POST', `/p/${id}/pay`, { body })
    expect(paid.payment).toMatchObject({
      status: 'paid',
      payer: payer.address,
      explorerUrl: `https://sepolia.basescan.org/tx/${String(paid.payment.txHash)}`,
      testMode: false,
      redirectUrl: null,
    })
    const { body: listed } = await world.seller.call('GET', `/v1/checkouts/${id}/payments`)
    expect(listed.payments[0].input).toEqual({ a: 'given', b: { x: [1, 2] } })
  })

  it('one Idempotency-Key simulates once', async () => {
    const { id } = await world.sell({ testMode: true })
    const body = { input: {}, simulate: true }
    const pay = () => world.call('POST', `/p/${id}/pay`, { body, headers: { 'Idempotency-Key': 'k' } })
    const [first, second] = [await pay(), await pay()]
    expect(second.body).toEqual(first.body)
    const other = { body: { ...body, quoteId: 'x' }, headers: { 'Idempotency-Key': 'k' } }
    expect(await world.call('POST', `/p/${id}/pay`, other)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_conflict' },
    })
  })
})
