import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

const TO = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02914'

describe('POST /wallet/withdraw → 400', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
  })
  afterAll(() => service.close())

  const own = async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet.walletAddress as string

  test.each<[string, unknown, string]>([
    ['no amount', { to: TO }, 'amount'],
    ['an amount of nothing', { amount: 0, to: TO }, 'amount'],
    ['a negative one', { amount: -1, to: TO }, 'amount'],
    ['seven decimals', { amount: 0.0000001, to: TO }, 'amount'],
    ['no address', { amount: 1 }, 'to'],
    ['an invalid address', { amount: 1, to: '0x12' }, 'to'],
    ['a name', { amount: 1, to: 'vitalik.eth' }, 'to'],
    ['a wrong checksum', { amount: 1, to: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914'.replace('fCD', 'Fcd') }, 'to'],
    ['the zero address', { amount: 1, to: `0x${'00'.repeat(20)}` }, 'to'],
    ['the USDC contract', { amount: 1, to: '0x036cbd53842c5426634e7929541ec2318f3dcf7e' }, 'to'],
    ['that of the other network', { amount: 1, to: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' }, 'to'],
    ['an unknown field', { amount: 1, to: TO, network: 'base' }, 'network'],
  ])('%s', async (_, body, field) => {
    const answer = await person.call('POST', '/v1/wallet/withdraw', { body })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toEqual([field])
  })

  test('less than the minimum: each withdrawal costs gas', async () => {
    const { status, body } = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 0.999999, to: TO } })
    expect([status, body.code, body.minimum]).toEqual([400, 'withdrawal_below_minimum', 1])
    expect(body.details).toEqual({ amount: 'must be at least 1' })
  })

  test("the wallet's own address, the service's, and one that is read on another network alone", async () => {
    const elsewhere = { userId: person.caller.user.id, environment: 'production' as const }
    for (const to of [await own(), service.wallets.treasury()!, (await service.wallets.depositAddress(elsewhere))!]) {
      const { status, body } = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 1, to } })
      expect({ status, field: Object.keys(body.details as object) }).toEqual({ status: 400, field: ['to'] })
    }
  })

  test('none of these left a hold', async () => {
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet).toMatchObject({ availableBalance: 10 })
  })
})
