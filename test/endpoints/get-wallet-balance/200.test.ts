import { usdc } from '../../../service/kit/money.ts'
import { testService, type TestService } from '../../harness/service.ts'

describe('GET /wallet/balance → 200', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  test('a new wallet is empty, with every field', async () => {
    const person = await service.person()
    const { status, body } = await person.call('GET', '/v1/wallet/balance')
    expect(status).toBe(200)
    expect(body).toEqual({
      wallet: {
        userId: person.caller.subject,
        walletAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        balance: 0,
        availableBalance: 0,
        pendingLocks: {},
        totalLocked: 0,
        totalDeposited: 0,
        totalSpent: 0,
      },
    })
  })

  test('shows a deposit, open locks, a capture and a release in their own fields', async () => {
    const person = await service.person()
    const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    const reserve = (id: string, amount: bigint) =>
      service.ledger.reserve({ id, owner, amount: usdc(amount), useCredits: false, deadline, reference: null })
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    await reserve('run_1', 2_500_000n)
    await reserve('run_2', 1_000_001n)
    await reserve('run_3', 3_000_000n)
    await service.ledger.capture({
      hold: 'run_1',
      owner,
      amount: usdc(2_000_000n),
      shares: [],
      kind: 'capture',
      reference: null,
      announcements: [],
    })
    await service.ledger.release({ hold: 'run_3', owner, announcements: [] })
    const { body } = await person.call('GET', '/v1/wallet/balance')
    expect(body.wallet).toEqual({
      userId: person.caller.subject,
      walletAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      balance: 8,
      availableBalance: 6.999999,
      pendingLocks: { run_2: 1.000001 },
      totalLocked: 1.000001,
      totalDeposited: 10,
      totalSpent: 2,
    })
  })

  test('each environment has a wallet of its own, and the key decides', async () => {
    const person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 3 } })
    const owner = { userId: person.caller.user.id, environment: 'production' as const }
    expect((await service.ledger.wallet(owner))?.funds.available).toBe(0n)
  })

  test('every answer has a request id', async () => {
    const person = await service.person()
    const { headers } = await person.call('GET', '/v1/wallet/balance')
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
  })
})
