import { newId } from '../../../service/kit/ids.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { addSale, refund, rich, work } from '../../refunds/sales.ts'

describe('POST /payments/{id}/refund → 409', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService()
    person = await rich(service, 10)
  })
  afterAll(() => service.close())

  test.each(['claimed', 'released', 'settling', 'failed'] as const)('a payment that is %s', async (state) => {
    const { status, body } = await refund(person, await addSale(service, person, { state }), {})
    expect([status, body.code, body.state]).toEqual([409, 'payment_not_refundable', state])
  })

  test('an amount above the payment, or above the rest', async () => {
    const sale = await addSale(service, person)
    for (const [amount, refundable] of [
      [1.000001, 1],
      [0.7, null],
      [0.300001, 0.3],
      [0.3, null],
      [undefined, 0],
    ] as const) {
      const { status, body } = await refund(person, sale, { amount })
      const expected = refundable === null ? [202, undefined, undefined] : [409, 'refund_exceeds_payment', refundable]
      expect([status, body.code, body.refundable]).toEqual(expected)
    }
    await work(service)
    expect((await refund(person, sale, {})).body.code).toBe('payment_not_refundable')
  })

  test('a payment on a network where the wallet has nothing: the sentence says from where to send it', async () => {
    const payer = `0x${'b3'.repeat(20)}`
    const sale = await addSale(service, person, { network: 'base', payer })
    const { status, body } = await refund(person, sale, {})
    expect([status, body.code, body.payer]).toEqual([409, 'refund_on_other_network', payer])
    expect(body.error).toContain(`Send the refund to ${payer}`)
  })

  test('a payment that filled a prepaid balance, which can still be spent', async () => {
    const sale = await addSale(service, person, { product: 'gate', details: { kind: 'balance' } })
    expect((await refund(person, sale, {})).body.code).toBe('refund_of_balance')
    const request = await addSale(service, person, { product: 'gate', details: { kind: 'request' } })
    expect((await refund(person, request, {})).status).toBe(202)
  })

  test('a hundred and first refund of one payment', async () => {
    const sale = await addSale(service, person, { simulated: true })
    for (let count = 0; count < 100; count++) {
      expect((await refund(person, sale, { amount: 0.000001 })).status).toBe(202)
    }
    expect((await refund(person, sale, { amount: 0.000001 })).body.code).toBe('too_many_refunds')
  })

  test("inside the service: one of the platform's own tools, and an operation that refunded another payment", async () => {
    const by = { amount: null, reason: null, by: 'rule', owner: null } as const
    const request = (saleId: string, operation = newId('op', service.clock.now())) =>
      service.refunds.request({ ...by, saleId }, operation)
    const tool = await addSale(service, person, { product: 'tool', userId: null })
    await expect(request(tool)).rejects.toMatchObject({ code: 'refund_by_operator' })
    const operation = newId('op', service.clock.now())
    const sale = await addSale(service, person)
    const first = await request(sale, operation)
    expect(await request(sale, operation)).toEqual(first)
    await expect(request(await addSale(service, person), operation)).rejects.toMatchObject({ code: 'refund_conflict' })
  })
})
