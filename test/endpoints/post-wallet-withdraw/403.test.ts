import { testService, type TestService } from '../../harness/service.ts'

const TO = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02914'
const OTHER = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02915'

describe('POST /wallet/withdraw → 403', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({
      WITHDRAWAL_LIMIT_PER_DAY: '6',
      WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '10',
      WITHDRAWAL_ALLOW_LIST: TO.toUpperCase().replace('0X', '0x'),
    })
  })
  afterAll(() => service.close())

  const rich = async () => {
    const person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 100 } })
    return {
      person,
      take: (amount: number, to = TO) => person.call('POST', '/v1/wallet/withdraw', { body: { amount, to } }),
      available: async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet.availableBalance as number,
    }
  }

  test('an address that is not on the list', async () => {
    const { take, available } = await rich()
    const { status, body } = await take(1, OTHER)
    expect({ status, code: body.code, details: Object.keys(body.details as object) }).toEqual({
      status: 403,
      code: 'recipient_not_allowed',
      details: ['to'],
    })
    expect(await available()).toBe(100)
  })

  test('above the daily limit, also for concurrent calls; a day later the limit is free again', async () => {
    const { take, available } = await rich()
    const answers = await Promise.all(Array.from({ length: 20 }, () => take(1)))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 6 }, () => 200),
      ...Array.from({ length: 14 }, () => 403),
    ])
    const { body } = await take(1)
    expect(body).toMatchObject({ code: 'withdrawal_limit', limit: 6, taken: 6, requested: 1 })
    expect(await available()).toBe(94)
    // The service's limit covers all accounts: four of its ten are left, and the error doesn't say who withdrew the
    // rest.
    const account = await rich()
    const spent = await account.take(5)
    expect(spent.body).toMatchObject({ code: 'withdrawal_limit', limit: null, taken: null, requested: 5 })
    expect((await account.take(4)).status).toBe(200)
    service.clock.forward(86_400_001)
    expect((await take(6)).status).toBe(200)
  })

  test("an agent's key", async () => {
    const { person } = await rich()
    const agent = { ...person.caller, agentId: 'agt_00000000000000000000000000' as const }
    expect(agent.agentId).not.toBeNull()
    const [row] = await service.database.statements.run<{ id: string }>(
      'SELECT id FROM identity_api_key WHERE user_id = $1',
      [person.caller.user.id],
    )
    await service.database.statements.run('UPDATE identity_api_key SET agent_id = $2 WHERE id = $1', [
      row!.id,
      agent.agentId,
    ])
    const { status, body } = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 1, to: TO } })
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'agent_key_forbidden' })
  })
})
