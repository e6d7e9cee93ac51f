import { testService, type TestService } from '../../harness/service.ts'

const TO = `0x${'ab'.repeat(20)}`

describe('GET /wallet/withdrawals → 200', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  test("lists the caller's own, the newest first, in pages", async () => {
    const [person, other] = [await service.person(), await service.person()]
    for (const each of [person, other]) await each.call('POST', '/v1/wallet/deposit', { body: { amount: 100 } })
    await other.call('POST', '/v1/wallet/withdraw', { body: { amount: 50, to: TO } })
    for (const amount of [1, 2, 3]) {
      service.clock.forward(1_000)
      await person.call('POST', '/v1/wallet/withdraw', { body: { amount, to: TO } })
    }
    const amounts = async (query: string) => {
      const { body } = await person.call('GET', `/v1/wallet/withdrawals${query}`)
      return { ...body, withdrawals: (body.withdrawals as { amount: number }[]).map(({ amount }) => amount) } as unknown
    }
    expect(await amounts('')).toEqual({ withdrawals: [3, 2, 1], total: 3, limit: 20, offset: 0 })
    expect(await amounts('?limit=1&offset=1')).toEqual({ withdrawals: [2], total: 3, limit: 1, offset: 1 })
    expect(await amounts('?offset=9')).toEqual({ withdrawals: [], total: 3, limit: 20, offset: 9 })
  })
})
