import { testService, type TestService } from '../../harness/service.ts'

const TO = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914'

describe('POST /wallet/withdraw → 200', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0' })
  })
  afterAll(() => service.close())

  const rich = async () => {
    const person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    return person
  }

  test('returns every field, and holds the money at once', async () => {
    const person = await rich()
    const { status, body } = await person.call('POST', '/v1/wallet/withdraw', {
      body: { amount: 4, to: TO.toLowerCase() },
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      withdrawal: {
        id: expect.stringMatching(/^wdr_[0-9a-z]{26}$/),
        status: 'pending',
        amount: 4,
        to: TO.toLowerCase(),
        network: 'base-sepolia',
        txHash: null,
        reason: null,
        createdAt: expect.stringMatching(/Z$/),
        submittedAt: null,
        endedAt: null,
      },
    })
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({
      balance: 10,
      availableBalance: 6,
      pendingLocks: { [body.withdrawal.id]: 4 },
      totalSpent: 0,
    })
  })

  test('is simulated in a sandbox without a chain, through the same states', async () => {
    const person = await rich()
    const { id } = (await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 4, to: TO.toLowerCase() } }))
      .body.withdrawal as { id: string }
    await service.wallets.payouts.step(id)
    const { withdrawal } = (await person.call('GET', `/v1/wallet/withdrawals/${id}`)).body
    expect(withdrawal).toMatchObject({ status: 'confirmed', txHash: `simulated:${id}`, endedAt: expect.any(String) })
    // A second step changes nothing.
    await service.wallets.payouts.step(id)
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({
      balance: 6,
      availableBalance: 6,
      pendingLocks: {},
      totalSpent: 0,
      totalDeposited: 10,
    })
    const { transactions } = (await person.call('GET', '/v1/wallet/transactions')).body
    expect(transactions[0]).toMatchObject({ type: 'withdrawal', amount: -4, balanceAfter: 6 })
  })

  test('makes one withdrawal of fifty concurrent calls with one Idempotency-Key', async () => {
    const person = await rich()
    const withdraw = () =>
      person.call('POST', '/v1/wallet/withdraw', {
        body: { amount: 1, to: TO.toLowerCase() },
        headers: { 'idempotency-key': 'w' },
      })
    const answers = await Promise.all(Array.from({ length: 50 }, withdraw))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.availableBalance).toBe(9)
  })

  test('of fifty concurrent calls for the whole balance, one succeeds', async () => {
    const person = await rich()
    const withdraw = () => person.call('POST', '/v1/wallet/withdraw', { body: { amount: 10, to: TO.toLowerCase() } })
    const answers = await Promise.all(Array.from({ length: 50 }, withdraw))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 402)])
  })

  test('an address with its checksum', async () => {
    const person = await rich()
    const written = (await (await service.person()).call('GET', '/v1/wallet/balance')).body.wallet
      .walletAddress as string
    expect(written).not.toBe(written.toLowerCase())
    const { status } = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 1, to: written } })
    expect(status).toBe(200)
  })
})
