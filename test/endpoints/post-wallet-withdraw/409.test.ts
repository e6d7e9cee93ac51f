import { testService } from '../../harness/service.ts'

test('POST /wallet/withdraw → 409: an Idempotency-Key with another body', async () => {
  const service = await testService()
  const person = await service.person()
  await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
  const take = (amount: number) =>
    person.call('POST', '/v1/wallet/withdraw', {
      body: { amount, to: `0x${'ab'.repeat(20)}` },
      headers: { 'idempotency-key': 'k' },
    })
  expect((await take(1)).status).toBe(200)
  const { status, body } = await take(2)
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'idempotency_conflict' })
  expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.availableBalance).toBe(4)
  await service.close()
})
