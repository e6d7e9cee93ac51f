import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { refundOf } from '../../service/disputes/rules.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { addSale, refund, rich, work } from '../refunds/sales.ts'
import { answer, createSale, DAY_MS, disputeOf, eventsOf, report, signedReport, sweep } from './reports.ts'

describe('a dispute', () => {
  let service: TestService
  let seller: TestPerson
  beforeAll(async () => {
    service = await testService({
      ...{ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0', REFUNDS_PER_DAY: '1000' },
      ...{ RATE_PAY_PER_MINUTE: '0' },
    })
  })
  beforeEach(async () => {
    seller = await rich(service, 100)
  })
  afterAll(() => service.close())

  const policy = (body: object) => seller.call('PATCH', '/v1/refund-policy', { body })

  test('is reported with the token, answered with a refund, and both sides are notified', async () => {
    await seller.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['dispute.opened', 'dispute.closed'] },
    })
    const sale = await createSale(service, seller)
    const at = `/receipts/${sale.id}/dispute?token=${sale.token}`
    expect((await service.call('GET', at)).body).toEqual({
      dispute: null,
      reportUntil: expect.any(String),
      ifUnanswered: { days: 7, outcome: 'close' },
    })
    const first = await report(service, sale, { text: 'Nothing came.' })
    expect(first).toMatchObject({ status: 201, body: { dispute: { state: 'open', text: 'Nothing came.' } } })
    const again = await report(service, sale, { reason: 'other', text: 'Something else.' })
    expect(again).toMatchObject({ status: 200, body: first.body })
    const { id } = first.body.dispute as { id: string }
    const listed = await seller.call('GET', '/v1/disputes?state=open')
    expect(listed.body).toMatchObject({ total: 1, disputes: [{ id, amount: 1, payment: { id: sale.id, amount: 1 } }] })
    const answered = await answer(seller, id, { action: 'refund', text: 'Sorry.' })
    expect(answered).toMatchObject({ status: 200, body: { dispute: { state: 'refunding', answer: 'Sorry.' } } })
    // Opened once more, after a restore that lost it, it would ask for the same transfer.
    expect(answered.body.dispute.refundId).toBe(refundOf(sale.id, 1))
    // The result of the first call was lost.
    expect((await answer(seller, id, { action: 'refund', text: 'Sorry.' })).body).toEqual(answered.body)
    expect(await answer(seller, id, { action: 'decline' })).toMatchObject({
      status: 409,
      body: { code: 'dispute_not_open' },
    })
    await work(service)
    expect((await service.call('GET', at)).body.dispute).toMatchObject({ state: 'refunded', answer: 'Sorry.' })
    expect((await service.call('GET', `/receipts/${sale.id}?token=${sale.token}`)).body).toMatchObject({
      receipt: { status: 'refunded' },
      dispute: { id, state: 'refunded' },
    })
    expect((await seller.call('GET', `/v1/disputes/${id}`)).body.dispute).toMatchObject({ payment: { refundable: 0 } })
    expect((await eventsOf(service)).filter(({ data }) => data['disputeId'] === id)).toMatchObject([
      { event: 'dispute.opened', data: { id: sale.id, disputeState: 'open', disputeText: 'Nothing came.' } },
      {
        event: 'dispute.closed',
        data: { id: sale.id, disputeState: 'refunded', disputeAnswer: 'Sorry.', refunded: 1 },
      },
    ])
  })

  test("can be opened by the payer's signature, for this payment and server, for an hour", async () => {
    const [sale, other] = [await createSale(service, seller), await createSale(service, seller)]
    const post = (id: string, body: object) => service.call('POST', `/receipts/${id}/dispute`, { body })
    const refused = { status: 404, body: { code: 'receipt_not_found' } }
    expect(await post(sale.id, await signedReport(service, sale, other.payer))).toMatchObject(refused)
    expect(await post(sale.id, await signedReport(service, sale, sale.payer, { of: other.id }))).toMatchObject(refused)
    expect(await post(sale.id, await signedReport(service, sale, sale.payer, { amount: 2n }))).toMatchObject(refused)
    const elsewhere = await signedReport(service, sale, sale.payer, { origin: 'https://evil.example/receipts' })
    expect(await post(sale.id, elsewhere)).toMatchObject(refused)
    const altered = { ...(await signedReport(service, sale, sale.payer)), reason: 'other' }
    expect(await post(sale.id, altered)).toMatchObject(refused)
    for (const minutes of [-1, 61]) {
      const late = await signedReport(service, sale, sale.payer, { minutes })
      expect(await post(sale.id, late)).toMatchObject({ status: 410, body: { code: 'signature_expired' } })
    }
    expect(await post(sale.id, { reason: 'other' })).toMatchObject(refused)
    expect(await post('pay_none', await signedReport(service, sale, sale.payer))).toMatchObject(refused)
    expect(await report(service, { id: sale.id, token: other.token })).toMatchObject(refused)
    const body = await signedReport(service, sale, sale.payer)
    expect(await post(sale.id, body)).toMatchObject({ status: 201 })
    expect(await post(sale.id, body)).toMatchObject({ status: 200 })
    service.clock.forward(11 * 60_000)
    expect(await post(sale.id, body)).toMatchObject({ status: 410 })
  })

  test('is opened once by a hundred concurrent reports, and refunded once by a hundred answers', async () => {
    const sale = await createSale(service, seller)
    const reports = await Promise.all(Array.from({ length: 100 }, () => report(service, sale)))
    expect(reports.filter(({ status }) => status === 201)).toHaveLength(1)
    const ids = new Set(reports.map(({ body }) => String(body.dispute.id)))
    expect(ids.size).toBe(1)
    const [id = ''] = ids
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        answer(seller, id, { action: 'refund', amount: 0.4, text: `No. ${String(at)}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    await work(service)
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'refunded', attempts: 1 })
    expect((await seller.call('GET', `/v1/payments/${sale.id}`)).body.payment).toMatchObject({
      refunded: 0.4,
      state: 'paid',
    })
  })

  test('is refused for an unpaid or old payment, a prepaid balance, and a sale without a seller', async () => {
    const unpaid = await createSale(service, seller, { state: 'settling' })
    expect(await report(service, unpaid)).toMatchObject({ status: 409, body: { code: 'payment_not_refundable' } })
    const balance = await createSale(service, seller, { product: 'gate', details: { kind: 'balance' } })
    expect(await report(service, balance)).toMatchObject({ status: 409, body: { code: 'refund_of_balance' } })
    const tool = await createSale(service, seller, { product: 'tool', userId: null })
    expect(await report(service, tool)).toMatchObject({ status: 409, body: { code: 'refund_by_operator' } })
    const before = await createSale(service, seller)
    await policy({ windowDays: 3 })
    service.clock.forward(3_600_000)
    const sale = await createSale(service, seller)
    service.clock.forward(3 * DAY_MS)
    expect(await report(service, sale)).toMatchObject({ status: 409, body: { code: 'dispute_outside_window' } })
    const known = await service.call('GET', `/receipts/${sale.id}/dispute?token=${sale.token}`)
    expect(known.body).toMatchObject({ reportUntil: null, ifUnanswered: null })
    // A shorter time holds for later sales only, a longer one for all.
    expect(await report(service, before)).toMatchObject({ status: 201 })
    await policy({ windowDays: 4 })
    expect(await report(service, sale)).toMatchObject({ status: 201 })
  })

  test('without an answer ends by the policy at its time: closed, or refunded', async () => {
    const closes = await createSale(service, seller)
    await report(service, closes)
    await policy({ unanswered: 'refund', answerDays: 2 })
    const refunds = await createSale(service, seller)
    await report(service, refunds)
    await policy({ unanswered: 'close', answerDays: 1 })
    service.clock.forward(2 * DAY_MS)
    await sweep(service)
    await work(service)
    expect(await disputeOf(service, refunds.id)).toMatchObject({ state: 'refunded', decidedBy: 'deadline' })
    expect(await disputeOf(service, closes.id)).toMatchObject({ state: 'open' })
    service.clock.forward(5 * DAY_MS)
    await sweep(service)
    const closed = await disputeOf(service, closes.id)
    expect(closed).toMatchObject({ state: 'closed', decidedBy: 'deadline', refundId: null })
    expect(await answer(seller, closed.id, { action: 'refund' })).toMatchObject({ status: 409 })
    expect(await report(service, closes)).toMatchObject({ status: 200, body: { dispute: { state: 'closed' } } })
  })

  test('is refunded by its deadline for one wallet twice in 24 hours, and not if delivered', async () => {
    await policy({ unanswered: 'refund', answerDays: 1 })
    const payer = `0x${'d4'.repeat(20)}`
    const four = await Promise.all(Array.from({ length: 4 }, () => createSale(service, seller, { payer })))
    for (const sale of four) await report(service, sale, { reason: 'customer_request' })
    const arrived = await createSale(service, seller)
    await service.database.statements.run(`UPDATE sale SET handover = 'whole' WHERE id = $1`, [arrived.id])
    await report(service, arrived)
    const ended = async () => {
      await sweep(service)
      await work(service)
      const disputes = await Promise.all(four.map(({ id }) => disputeOf(service, id)))
      return disputes.filter(({ state }) => state === 'refunded').length
    }
    service.clock.forward(DAY_MS)
    expect(await ended()).toBe(2)
    expect(await ended()).toBe(2)
    expect(await disputeOf(service, arrived.id)).toMatchObject({ state: 'closed', refundId: null })
    service.clock.forward(DAY_MS)
    expect(await ended()).toBe(4)
    expect(await findRefundDifferences(service.database.statements)).toEqual([])
  })

  test('stays open with the reason when its refund fails, and the deadline gives up in the end', async () => {
    const poor = await rich(service, 0.1)
    await poor.call('PATCH', '/v1/refund-policy', { body: { unanswered: 'refund', answerDays: 1 } })
    const sale = await createSale(service, poor)
    await report(service, sale)
    const { id } = await disputeOf(service, sale.id)
    await answer(poor, id, { action: 'refund' })
    const fails = async () => {
      service.clock.forward(14 * DAY_MS + 301_000)
      await work(service)
    }
    await fails()
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'open', refundFailure: 'insufficient_balance' })
    expect((await poor.call('GET', `/v1/disputes/${id}`)).body.dispute).toMatchObject({
      refundFailure: 'insufficient_balance',
    })
    for (let attempt = 2; attempt <= 3; attempt++) {
      service.clock.forward(DAY_MS)
      await sweep(service)
      expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'refunding', attempts: attempt })
      await fails()
    }
    await poor.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const other = await createSale(service, poor)
    await report(service, other)
    await answer(poor, (await disputeOf(service, other.id)).id, { action: 'refund' })
    await work(service)
    expect(await disputeOf(service, other.id)).toMatchObject({ state: 'refunded' })
    service.clock.forward(DAY_MS)
    await sweep(service)
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'closed', attempts: 3 })
    expect(await findRefundDifferences(service.database.statements)).toEqual([])
  })

  test('ends with a full refund by the seller; the deadline waits for one in progress', async () => {
    const sale = await createSale(service, seller)
    await report(service, sale)
    await refund(seller, sale.id, { amount: 0.3 })
    await work(service)
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'open' })
    const { id } = await disputeOf(service, sale.id)
    await refund(seller, sale.id, {})
    // All of it is promised, so there is nothing to answer with, and nothing to close.
    expect(await answer(seller, id, { action: 'refund' })).toMatchObject({
      status: 409,
      body: { code: 'refund_exceeds_payment' },
    })
    service.clock.forward(7 * DAY_MS)
    await sweep(service)
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'open', refundFailure: 'refund_exceeds_payment' })
    await work(service)
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'refunded' })
  })

  test('ends once under concurrent answers, deadline and refund, within the payment', async () => {
    await policy({ unanswered: 'refund', answerDays: 1 })
    for (let round = 0; round < 8; round++) {
      const sale = await createSale(service, seller)
      await report(service, sale)
      const { id } = await disputeOf(service, sale.id)
      service.clock.forward(DAY_MS)
      await Promise.allSettled([
        sweep(service),
        answer(seller, id, { action: 'refund', amount: 0.6 }),
        refund(seller, sale.id, { amount: 0.7 }),
        answer(seller, id, { action: 'decline' }),
        sweep(service),
      ])
      // What was refused at once is asked again at the next deadline, and then gets what is left.
      for (let later = 0; later < 3; later++) {
        await work(service)
        service.clock.forward(DAY_MS)
        await sweep(service)
      }
      await work(service)
      expect(['refunded', 'declined', 'closed']).toContain((await disputeOf(service, sale.id)).state)
      const { payment } = (await seller.call('GET', `/v1/payments/${sale.id}`)).body
      expect(payment.refunded).toBeLessThanOrEqual(1)
    }
    expect(await findRefundDifferences(service.database.statements)).toEqual([])
    expect(await service.ledger.differences()).toEqual([])
  })

  test("belongs to its seller in one environment, and an agent's key cannot answer it", async () => {
    const sale = await createSale(service, seller)
    const { id } = (await report(service, sale)).body.dispute as { id: string }
    const stranger = await service.person()
    for (const body of [{ action: 'refund' }, { action: 'decline' }]) {
      expect(await answer(stranger, id, body)).toMatchObject({ status: 404, body: { code: 'dispute_not_found' } })
    }
    expect((await stranger.call('GET', '/v1/disputes')).body).toMatchObject({ total: 0, disputes: [] })
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'open' })
    const faults = [
      { action: 'decline', amount: 1 },
      { action: 'refund', amount: 0 },
      { action: 'x' },
      { action: 'refund', text: 'x'.repeat(1_001) },
    ]
    for (const body of faults) expect(await answer(seller, id, body)).toMatchObject({ status: 400 })
    const more = await answer(seller, id, { action: 'refund', amount: 1.1 })
    expect(more).toMatchObject({ status: 409, body: { code: 'refund_exceeds_payment' } })
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'open', refundFailure: 'refund_exceeds_payment' })
  })

  test('about a simulated payment needs the token, and its refund moves nothing', async () => {
    const sale = await createSale(service, seller, { simulated: true, payer: `0x${'00'.repeat(20)}` })
    const signed = await signedReport(service, sale, sale.payer)
    expect(await service.call('POST', `/receipts/${sale.id}/dispute`, { body: signed })).toMatchObject({ status: 404 })
    const { id } = (await report(service, sale)).body.dispute as { id: string }
    expect((await answer(seller, id, { action: 'refund' })).body.dispute).toMatchObject({ state: 'refunded' })
  })

  test('a process that dies before it requests the refund leaves it to the sweeper', async () => {
    let dies = true
    const dying = await testService(
      {},
      {
        failpoints: {
          reach: (place: string) =>
            dies && place === 'dispute claimed' ? Promise.reject(new Error('killed')) : Promise.resolve(),
        },
      },
    )
    const owner = await rich(dying, 10)
    const sale = await createSale(dying, owner)
    const { id } = (await report(dying, sale)).body.dispute as { id: string }
    expect(await answer(owner, id, { action: 'refund' })).toMatchObject({ status: 500 })
    expect(await disputeOf(dying, sale.id)).toMatchObject({ state: 'refunding' })
    dies = false
    dying.clock.forward(61_000)
    await sweep(dying)
    await work(dying)
    expect(await disputeOf(dying, sale.id)).toMatchObject({ state: 'refunded', attempts: 1 })
    await dying.close()
  })

  test('has a policy with defaults and limits', async () => {
    expect((await seller.call('GET', '/v1/refund-policy')).body.refundPolicy).toEqual({
      ...{ windowDays: 30, answerDays: 7, unanswered: 'close', partialRefunds: true, agents: 'asked' },
      ...{ automaticPerSale: 1, automaticPerDay: 20 },
    })
    expect((await policy({ agents: 'automatic', automaticPerDay: 3 })).body.refundPolicy).toMatchObject({
      ...{ windowDays: 30, agents: 'automatic', automaticPerSale: 1, automaticPerDay: 3 },
    })
    for (const body of [
      { windowDays: 366 },
      { answerDays: 0 },
      { unanswered: 'x' },
      { automaticPerSale: -1 },
      { x: 1 },
    ]) {
      expect(await policy(body)).toMatchObject({ status: 400 })
    }
  })

  test('keeps all concurrent changes of the policy', async () => {
    const fields = {
      ...{ windowDays: 14, answerDays: 3, unanswered: 'refund', partialRefunds: false, agents: 'automatic' },
      ...{ automaticPerSale: 2, automaticPerDay: 5 },
    }
    for (let round = 0; round < 5; round++) {
      seller = await service.person()
      await Promise.all(Object.entries(fields).map(([name, value]) => policy({ [name]: value })))
      expect((await seller.call('GET', '/v1/refund-policy')).body.refundPolicy).toEqual(fields)
    }
  })

  test('is counted for a checkout from 20 customers on, rounded, without simulated ones', async () => {
    const subject = 'chk_tracked'
    for (let at = 0; at < 19; at++) await addSale(service, seller, { subject })
    for (let at = 0; at < 5; at++)
      await addSale(service, seller, { subject, simulated: true, payer: `0x${'00'.repeat(20)}` })
    expect(await service.disputes.trackRecord(subject)).toBeNull()
    // A wallet that buys again and again is one customer.
    const payer = `0x${'e5'.repeat(20)}`
    for (let at = 0; at < 10; at++) await addSale(service, seller, { subject, payer })
    service.clock.forward(61_000)
    expect(await service.disputes.trackRecord(subject)).toEqual({
      customers: 20,
      refundedPercent: 0,
      disputedPercent: 0,
    })
    const [one, two] = [await createSale(service, seller, { subject }), await createSale(service, seller, { subject })]
    await report(service, one)
    await report(service, two)
    await answer(seller, (await disputeOf(service, one.id)).id, { action: 'refund' })
    await work(service)
    service.clock.forward(61_000)
    expect(await service.disputes.trackRecord(subject)).toEqual({
      ...{ customers: 20, refundedPercent: 5, disputedPercent: 9 },
    })
    // What one wallet disputes and gets back counts as the share of what it paid, whole or in part.
    const spoiler = `0x${'f6'.repeat(20)}`
    for (let at = 0; at < 30; at++) {
      const sale = await createSale(service, seller, { subject, payer: spoiler })
      await report(service, sale)
      await refund(seller, sale.id, { amount: 0.5 })
    }
    service.clock.forward(61_000)
    // Of 23 customers one was refunded whole and one by half, and three disputed.
    expect(await service.disputes.trackRecord(subject)).toEqual({
      ...{ customers: 20, refundedPercent: 7, disputedPercent: 13 },
    })
  })
})
