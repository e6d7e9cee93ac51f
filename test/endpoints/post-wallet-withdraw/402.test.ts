import { testService } from '../../harness/service.ts'

const TO = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02914'

test('POST /wallet/withdraw → 402: more than is available, with both figures', async () => {
  const service = await testService()
  const person = await service.person()
  await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
  await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 3, to: TO } })
  const { status, body } = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 2.000001, to: TO } })
  expect(status).toBe(402)
  expect(body).toMatchObject({ code: 'insufficient_balance', required: 2.000001, available: 2 })
  // Free credits are no cash.
  expect((await person.call('GET', '/v1/credits')).body.credits.balance).toBe(5)
  expect((await person.call('GET', '/v1/wallet/withdrawals')).body.total).toBe(1)
  await service.close()
})
