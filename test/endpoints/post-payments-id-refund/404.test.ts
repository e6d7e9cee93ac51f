import { testService } from '../../harness/service.ts'
import { addSale, refund, rich } from '../../refunds/sales.ts'

test('POST /payments/{id}/refund → 404 for foreign, platform and unknown payments', async () => {
  const service = await testService()
  const [person, other] = [await rich(service, 10), await rich(service, 10)]
  const sales = [
    await addSale(service, other),
    await addSale(service, person, { environment: 'production' }),
    await addSale(service, person, { product: 'tool', userId: null }),
    ...['pay_none', 'pay_00000000000000000000000000', 'rfd_00000000000000000000000000'],
  ]
  for (const sale of sales) {
    const { status, body } = await refund(person, sale, {})
    expect([sale, status, body.code]).toEqual([sale, 404, 'payment_not_found'])
  }
  const [counted] = await service.database.statements.run<{ count: bigint }>('SELECT count(*) FROM refund', [])
  expect(Number(counted?.count)).toBe(0)
  await service.close()
})
