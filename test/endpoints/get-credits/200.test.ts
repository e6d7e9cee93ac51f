import { usdc } from '../../../service/kit/money.ts'
import { testService, type TestService } from '../../harness/service.ts'

describe('GET /credits', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService({ SIGNUP_CREDITS: '5' })
  })
  afterAll(async () => {
    await service.close()
  })

  test('returns five dollars after the sign-up, and the amount spent', async () => {
    const person = await service.person()
    expect((await person.call('GET', '/v1/credits')).body).toEqual({
      credits: { balance: 5, granted: 5, spent: 0, withheld: null },
    })
    const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    await service.ledger.reserve({
      id: 'call',
      owner,
      amount: usdc(2_000_000n),
      useCredits: true,
      deadline,
      reference: null,
    })
    await service.ledger.capture({
      hold: 'call',
      owner,
      amount: usdc(1_500_000n),
      shares: [],
      kind: 'capture',
      reference: null,
      announcements: [],
    })
    expect((await person.call('GET', '/v1/credits')).body).toEqual({
      credits: { balance: 3.5, granted: 5, spent: 1.5, withheld: null },
    })
  })

  test('they are not in the wallet', async () => {
    const person = await service.person()
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet).toMatchObject({
      balance: 0,
      totalDeposited: 0,
    })
  })
})
