import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { addSale, rich } from '../../refunds/sales.ts'

describe('POST /payments/{id}/refund → 400', () => {
  let service: TestService
  let person: TestPerson
  let sale: string
  beforeAll(async () => {
    service = await testService()
    person = await rich(service, 10)
    sale = await addSale(service, person)
  })
  afterAll(() => service.close())

  test.each<[string, unknown, string]>([
    ['no reason', {}, 'reason'],
    ['an empty one', { reason: ' ' }, 'reason'],
    ['a long one', { reason: 'x'.repeat(501) }, 'reason'],
    ['one that no database can hold', { reason: 'a\0b' }, 'reason'],
    ['nothing', { amount: 0, reason: 'x' }, 'amount'],
    ['less than nothing', { amount: -1, reason: 'x' }, 'amount'],
    ['seven decimals', { amount: 0.0000001, reason: 'x' }, 'amount'],
    ['less than a transfer costs', { amount: 0.000099, reason: 'x' }, 'amount'],
    ['a part below five cents', { amount: 0.049999, reason: 'x' }, 'amount'],
    ['a text', { amount: '1', reason: 'x' }, 'amount'],
    ['an address of their own', { reason: 'x', to: `0x${'c1'.repeat(20)}` }, 'to'],
    ['a network', { reason: 'x', network: 'base' }, 'network'],
    ['another requester', { reason: 'x', by: 'rule' }, 'by'],
  ])('%s', async (_, body, field) => {
    const answer = await person.call('POST', `/v1/payments/${sale}/refund`, { body })
    expect({ status: answer.status, fields: Object.keys(answer.body.details as object) }).toEqual({
      status: 400,
      fields: [field],
    })
  })

  test('none of these changed the payment', async () => {
    const { payment } = (await person.call('GET', `/v1/payments/${sale}`)).body
    expect(payment).toMatchObject({ refunded: 0, refunds: [] })
  })
})
