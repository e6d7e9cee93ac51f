import { testService, type TestService } from '../../harness/service.ts'

const hashOf = (digit: string): string => `0x${digit.repeat(64)}`

describe('POST /wallet/deposit → 409', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  test('a hash that is recorded already, by the same person', async () => {
    const person = await service.person()
    const body = { amount: 5, transactionHash: hashOf('a') }
    await person.call('POST', '/v1/wallet/deposit', { body })
    const again = await person.call('POST', '/v1/wallet/deposit', { body })
    expect(again.status).toBe(409)
    expect(again.body).toEqual({
      error: expect.any(String),
      code: 'transaction_already_recorded',
      requestId: again.headers.get('x-request-id'),
      transactionHash: hashOf('a'),
    })
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(5)
  })

  test('for any account, amount and letter case', async () => {
    const [one, other] = [await service.person(), await service.person()]
    await one.call('POST', '/v1/wallet/deposit', { body: { amount: 5, transactionHash: hashOf('b') } })
    const shouted = hashOf('B')
    const { status, body } = await other.call('POST', '/v1/wallet/deposit', {
      body: { amount: 6, transactionHash: shouted },
    })
    expect({ status, hash: body.transactionHash }).toEqual({ status: 409, hash: shouted })
    expect((await other.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(0)
  })

  test('records one of fifty concurrent deposits with one hash', async () => {
    const person = await service.person()
    const body = { amount: 2, transactionHash: hashOf('c') }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => person.call('POST', '/v1/wallet/deposit', { body })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)])
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(2)
  })

  test('an Idempotency-Key with another body', async () => {
    const person = await service.person()
    const headers = { 'idempotency-key': 'k' }
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 }, headers })
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { body: { amount: 2 }, headers })
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'idempotency_conflict' })
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(1)
  })
})
