import { usdc } from '../../../service/kit/money.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('GET /wallet/transactions', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService()
    person = await service.person()
    const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
    const creator = (await service.person()).caller.user.id
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10, transactionHash: `0x${'1'.repeat(64)}` } })
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    await service.ledger.reserve({
      id: 'run_a',
      owner,
      amount: usdc(3_000_000n),
      useCredits: false,
      deadline,
      reference: null,
    })
    await service.ledger.capture({
      hold: 'run_a',
      owner,
      amount: usdc(1_000_000n),
      shares: [{ to: { userId: creator }, amount: usdc(900_000n) }],
      kind: 'capture',
      reference: 'run_a',
      announcements: [],
    })
    const shares = [{ to: { userId: owner.userId }, amount: usdc(500_000n) }]
    await service.ledger.transfer({ id: 'own', owner, amount: usdc(500_000n), shares, reference: 'rda_own' })
  })
  afterAll(async () => {
    await service.close()
  })

  test('lists the newest first, with the balance after each, and without mere holds', async () => {
    const { status, body } = await person.call('GET', '/v1/wallet/transactions')
    expect(status).toBe(200)
    expect({ total: body.total, limit: body.limit, offset: body.offset }).toEqual({ total: 4, limit: 20, offset: 0 })
    const lines = body.transactions as Record<string, unknown>[]
    expect(lines.map(({ type, amount, reference }) => [type, amount, reference]).slice(2)).toEqual([
      ['charge', -1, 'run_a'],
      ['deposit', 10, `0x${'1'.repeat(64)}`],
    ])
    expect(lines.slice(2).map(({ balanceAfter }) => balanceAfter)).toEqual([9, 10])
    // Paying oneself is a charge and an earning; together they change nothing.
    expect(
      lines
        .slice(0, 2)
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['charge', 'earning'])
    expect(lines[0]?.['balanceAfter']).toBe(9)
    expect(lines[0]?.['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('a page of it', async () => {
    const all = (await person.call('GET', '/v1/wallet/transactions')).body.transactions as unknown[]
    const { body } = await person.call('GET', '/v1/wallet/transactions?limit=2&offset=1')
    expect(body.transactions).toEqual(all.slice(1, 3))
    expect(body).toMatchObject({ total: 4, limit: 2, offset: 1 })
    expect((await person.call('GET', '/v1/wallet/transactions?offset=99')).body.transactions).toEqual([])
  })

  test.each(['limit=0', 'limit=101', 'limit=abc', 'limit=1.5', 'offset=-1', 'offset=1e3'])(
    '%s is a 400',
    async (query) => {
      const { status, body } = await person.call('GET', `/v1/wallet/transactions?${query}`)
      expect(status).toBe(400)
      expect(Object.keys(body.details as object)).toEqual([query.split('=')[0]])
    },
  )

  test('lists no transactions of other accounts', async () => {
    const { body } = await (await service.person()).call('GET', '/v1/wallet/transactions')
    expect(body).toMatchObject({ transactions: [], total: 0 })
  })
})
