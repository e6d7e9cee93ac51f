import { randomBytes } from 'node:crypto'
import { usdc } from '../../../service/kit/money.ts'
import { testService } from '../../harness/service.ts'

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
