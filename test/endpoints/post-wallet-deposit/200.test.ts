import { testService, type TestService } from '../../harness/service.ts'

const HASH = `0x${'Ab'.repeat(32)}`

describe('POST /wallet/deposit → 200', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  test('accepts a hash and returns it', async () => {
    const person = await service.person()
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', {
      body: { amount: 50, transactionHash: HASH },
    })
    expect(status).toBe(200)
    expect(body).toEqual({ deposited: true, amount: 50, transactionHash: HASH, newBalance: 50 })
  })

  test('needs no hash, and credits the balance at once', async () => {
    const person = await service.person()
    expect((await person.call('POST', '/v1/wallet/deposit', { body: { amount: 0.000001 } })).body).toEqual({
      deposited: true,
      amount: 0.000001,
      transactionHash: null,
      newBalance: 0.000001,
    })
    const { body } = await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1.25, transactionHash: null } })
    expect(body.newBalance).toBe(1.250001)
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({
      balance: 1.250001,
      availableBalance: 1.250001,
      totalDeposited: 1.250001,
      totalSpent: 0,
    })
  })

  test('accepts the largest possible amount', async () => {
    const person = await service.person()
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { body: { amount: 9_007_199_254 } })
    expect(status).toBe(200)
    expect(body.newBalance).toBe(9_007_199_254)
  })

  describe('with an Idempotency-Key', () => {
    const deposit = (person: Awaited<ReturnType<TestService['person']>>, key: string, amount: number) =>
      person.call('POST', '/v1/wallet/deposit', { body: { amount }, headers: { 'idempotency-key': key } })

    test('a repeated request gets the first answer, and moves nothing', async () => {
      const person = await service.person()
      const first = await deposit(person, 'one', 5)
      await deposit(person, 'other', 2)
      const again = await deposit(person, 'one', 5)
      expect(again.body).toEqual(first.body)
      expect(first.headers.get('idempotency-replayed')).toBeNull()
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(7)
    })

    test('fifty concurrent requests are one', async () => {
      const person = await service.person()
      const answers = await Promise.all(Array.from({ length: 50 }, () => deposit(person, 'burst', 3)))
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
      expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1)
      expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(3)
    })

    test("another account's request with the same key is another request", async () => {
      const [one, other] = [await service.person(), await service.person()]
      await deposit(one, 'shared', 1)
      expect((await deposit(other, 'shared', 2)).body.newBalance).toBe(2)
    })

    test('a refusal of the body does not use up the key', async () => {
      const person = await service.person()
      expect((await deposit(person, 'retry', -1)).status).toBe(400)
      expect((await deposit(person, 'retry', 1)).status).toBe(200)
    })

    test('repeats a lost answer also where the same amount would not fit once more', async () => {
      const person = await service.person()
      const first = await deposit(person, 'large', 9_000_000_000)
      await service.database.statements.run(
        `UPDATE idempotent_request SET status = NULL, answer = NULL, leased_until = now() - interval '1 second'
         WHERE answer ->> 'newBalance' = '9000000000'`,
        [],
      )
      const again = await deposit(person, 'large', 9_000_000_000)
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
    })

    test('repeats an answer that was lost with its process', async () => {
      const person = await service.person()
      const first = await deposit(person, 'lost', 4)
      // As if the process had died after the money moved and before the answer was kept.
      await service.database.statements.run(
        `UPDATE idempotent_request SET status = NULL, answer = NULL, leased_until = now() - interval '1 second'
         WHERE answer ->> 'newBalance' = '4'`,
        [],
      )
      await deposit(person, 'meanwhile', 10)
      const again = await deposit(person, 'lost', 4)
      expect(again.body).toEqual(first.body)
      expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(14)
    })
  })
})
