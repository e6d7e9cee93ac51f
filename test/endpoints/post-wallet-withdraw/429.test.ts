import { createWalletStore } from '../../../service/wallet/store/wallet-store.ts'
import { testService } from '../../harness/service.ts'

const TO = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02914'

test('POST /wallet/withdraw → 429: more withdrawals than the daily limit, also concurrently', async () => {
  const service = await testService({ WITHDRAWALS_PER_DAY: '3', WITHDRAWAL_MINIMUM: '0' })
  const [person, other] = [await service.person(), await service.person()]
  for (const one of [person, other]) await one.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
  const withdraw = (one: typeof person) =>
    one.call('POST', '/v1/wallet/withdraw', { body: { amount: 0.000001, to: TO } })
  const answers = await Promise.all(Array.from({ length: 12 }, () => withdraw(person)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  const resetsAt = new Date(service.clock.now().getTime() + 86_400_000).toISOString()
  for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
    expect([status, body.code, body.quota, body.limit]).toEqual([429, 'quota_exceeded', 'withdrawals_per_day', 3])
    expect(body.resetsAt <= resetsAt).toBe(true)
  }
  expect((await withdraw(other)).status).toBe(200)
  // Accounts take turns: the other's only one is second in line, not behind all of the first's.
  const open = await createWalletStore(service.database.statements).withdrawals.open(2)
  expect(open.map(({ owner }) => owner.userId)).toEqual([person.caller.user.id, other.caller.user.id])
  service.clock.forward(86_400_001)
  expect((await withdraw(person)).status).toBe(200)
  await service.close()
})
