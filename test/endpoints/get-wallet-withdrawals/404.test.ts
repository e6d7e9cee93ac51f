import { testService } from '../../harness/service.ts'

test("GET /wallet/withdrawals/{id} → 404 for an unknown id and another person's withdrawal", async () => {
  const service = await testService()
  const [person, other] = [await service.person(), await service.person()]
  await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
  const created = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 1, to: `0x${'ab'.repeat(20)}` } })
  const { id } = created.body.withdrawal as { id: string }
  expect((await person.call('GET', `/v1/wallet/withdrawals/${id}`)).status).toBe(200)
  for (const [who, expected] of [
    [other, id],
    [person, 'wdr_none'],
  ] as const) {
    const { status, body } = await who.call('GET', `/v1/wallet/withdrawals/${expected}`)
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'withdrawal_not_found' })
  }
  await service.close()
})
