import { expectLikeItsTest } from '../deliveries/samples.ts'
import { usdc } from '../../service/kit/money.ts'
import { newId } from '../../service/kit/ids.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

describe('a balance that runs low', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService({ TOP_UP_URL: 'https://pay.example/top-up' })
    person = await service.person()
  })
  afterAll(() => service.close())

  const look = () => service.wallets.alerts.lookAtAll(new AbortController().signal)
  const deposit = (amount: number) => person.call('POST', '/v1/wallet/deposit', { body: { amount } })
  const spend = async (amount: bigint) => {
    const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
    const id = newId('run', service.clock.now())
    await service.ledger.transfer({ id, owner, amount: usdc(amount), shares: [], reference: null })
  }
  const alerts = async () =>
    await service.database.statements.run<{ body: string }>(
      `SELECT body FROM delivery WHERE body LIKE '%wallet.low_balance%' ORDER BY created_at`,
      [],
    )

  test("is reported once to its owner's endpoints, and again only after it has recovered", async () => {
    const created = await person.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['wallet.low_balance'] },
    })
    expect(created.status).toBe(201)
    expect((await person.call('POST', '/v1/wallet/alert', { body: { below: 5 } })).body).toEqual({ below: 5 })
    expect((await person.call('GET', '/v1/wallet/alert')).body).toEqual({ below: 5 })
    await deposit(10)
    await look()
    expect(await alerts()).toHaveLength(0)
    await spend(6_000_000n)
    await Promise.all([look(), look(), look()])
    await look()
    const [only, ...others] = await alerts()
    expect(others).toEqual([])
    expectLikeItsTest(JSON.parse(only!.body) as Parameters<typeof expectLikeItsTest>[0])
    expect(JSON.parse(only!.body)).toEqual({
      event: 'wallet.low_balance',
      data: { available: 4, below: 5, topUpUrl: 'https://pay.example/top-up' },
    })
    await deposit(10)
    await look()
    await spend(10_000_000n)
    await look()
    expect(await alerts()).toHaveLength(2)
    expect((await person.call('POST', '/v1/wallet/alert', { body: { below: null } })).body).toEqual({ below: null })
    await deposit(10)
    await spend(10_000_000n)
    await look()
    expect(await alerts()).toHaveLength(2)
  })

  test('a refusal for it names the top-up address', async () => {
    const { status, body } = await person.call('POST', '/v1/wallet/withdraw', {
      body: { amount: 1000, to: `0x${'ab'.repeat(20)}` },
    })
    expect({ status, topUpUrl: body.topUpUrl }).toEqual({ status: 402, topUpUrl: 'https://pay.example/top-up' })
  })

  test('and a server without a top-up address names none', async () => {
    const plain = await testService()
    const unnotified = await plain.person()
    const { body } = await unnotified.call('POST', '/v1/wallet/withdraw', {
      body: { amount: 1000, to: `0x${'ab'.repeat(20)}` },
    })
    expect(body).toMatchObject({ code: 'insufficient_balance' })
    expect(body).not.toHaveProperty('topUpUrl')
    await plain.close()
  })
})
