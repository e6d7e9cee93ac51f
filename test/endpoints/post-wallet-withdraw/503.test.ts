import { randomBytes } from 'node:crypto'
import { usdc } from '../../../service/kit/money.ts'
import { testService } from '../../harness/service.ts'

test('POST /wallet/withdraw → 503 while payouts are paused; earlier ones resume afterwards', async () => {
  const service = await testService()
  const person = await service.person()
  await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
  const withdraw = () => person.call('POST', '/v1/wallet/withdraw', { body: { amount: 4, to: `0x${'ab'.repeat(20)}` } })
  const { id } = (await withdraw()).body.withdrawal as { id: string }
  await service.outflow.setPaused(true)
  const { status, body, headers } = await withdraw()
  expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'payouts_paused', '60'])
  const state = async () => {
    await service.wallets.payouts.step(id)
    await service.wallets.payouts.stepAll(new AbortController().signal)
    return (await person.call('GET', `/v1/wallet/withdrawals/${id}`)).body.withdrawal.status as string
  }
  expect(await state()).toBe('pending')
  service.clock.forward(3 * 86_400_000)
  expect(await state()).toBe('pending')
  await service.outflow.setPaused(false)
  expect(await state()).toBe('confirmed')
  expect((await person.call('GET', '/v1/wallet/balance')).body.wallet).toMatchObject({
    balance: 6,
    availableBalance: 6,
  })
  await service.close()
})

test('POST /wallet/withdraw → 503 in production: a server without a chain cannot pay, and locks nothing', async () => {
  const service = await testService({
    LIVE: 'true',
    AUTH_SECRET: 'a'.repeat(40),
    VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
  })
  const person = await service.person({ environment: 'production' })
  const owner = { userId: person.caller.user.id, environment: 'production' as const }
  await service.ledger.credit({
    id: 'dep_given',
    kind: 'deposit',
    owner,
    amount: usdc(5_000_000n),
    reference: null,
    act: 'given',
  })
  const { status, body } = await person.call('POST', '/v1/wallet/withdraw', {
    body: { amount: 5, to: `0x${'ab'.repeat(20)}` },
  })
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'withdrawals_unavailable' })
  const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
  expect(wallet).toMatchObject({ availableBalance: 5, walletAddress: null })
  await service.close()
})
