import { randomBytes } from 'node:crypto'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /wallet/deposit → 400', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterEach(async () => {
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({ balance: 0, totalDeposited: 0 })
  })
  afterAll(async () => {
    await service.close()
  })

  const amounts: [string, string, string][] = [
    ['zero', '0', 'must be greater than 0'],
    ['negative zero', '-0', 'must be greater than 0'],
    ['negative', '-5', 'must not be negative'],
    ['seven decimals', '0.0000001', 'must have at most 6 decimals'],
    ['seven decimals on a whole', '1.0000001', 'must have at most 6 decimals'],
    ['more digits than a double has', '1.00000000000000001', 'must be a number'],
    ['above the largest', '9007199254.000001', 'must be'],
    ['far above', '1e30', 'must be at most 9007199254'],
    ['beyond infinity', '1e400', 'must be'],
    ['too small to be anything', '1e-400', 'must be'],
    ['a string', '"5"', 'must be a number'],
    ['null', 'null', 'must be a number'],
    ['a list', '[5]', 'must be a number'],
    ['an object', '{"value":5}', 'must be a number'],
    ['true', 'true', 'must be a number'],
  ]
  test.each(amounts)('amount: %s', async (_, literal, message) => {
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { raw: `{"amount": ${literal}}` })
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_input' })
    expect(body.details.amount).toContain(message)
    expect(body.error).toContain('amount')
  })

  const bodies: [string, string, string][] = [
    ['no amount', '{}', 'amount'],
    ['an unknown field', '{"amount": 1, "currency": "USDC"}', 'currency'],
    ['an invalid hash', '{"amount": 1, "transactionHash": "abc"}', 'transactionHash'],
    ['a hash that is a number', '{"amount": 1, "transactionHash": 12}', 'transactionHash'],
    ['a list', '[]', 'body'],
    ['a string', '"amount"', 'body'],
    ['nothing', '', 'body'],
    ['half of JSON', '{"amount": 1', 'body'],
    ['not JSON', 'amount=1', 'body'],
  ]
  test.each(bodies)('body: %s', async (_, raw, field) => {
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { raw })
    expect(status).toBe(400)
    expect(Object.keys(body.details as object)).toEqual([field])
  })

  test('for a body that is not UTF-8', async () => {
    const raw = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { raw })
    expect(status).toBe(400)
    expect(body.details).toEqual({ body: 'must be UTF-8' })
  })

  test('prototype pollution is an unknown field', async () => {
    const raw = '{"amount": 1, "__proto__": {"admin": true}}'
    const { status } = await person.call('POST', '/v1/wallet/deposit', { raw })
    expect(status).toBe(400)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  test('for an invalid Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a'.repeat(256) }
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 }, headers })
    expect(status).toBe(400)
    expect(Object.keys(body.details as object)).toEqual(['Idempotency-Key'])
  })
})

describe('POST /wallet/deposit → 400 in production', () => {
  test('refuses a deposit that cannot be proven on chain, with a sentence', async () => {
    const service = await testService({
      LIVE: 'true',
      AUTH_SECRET: 'a'.repeat(40),
      VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    })
    const person = await service.person({ environment: 'production' })
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'deposit_not_provable' })
    expect(body.error).toContain('proven on chain')
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(0)
    await service.close()
  })
})

describe("POST /wallet/deposit beyond the API's number format", () => {
  test('is refused before the balance changes', async () => {
    const service = await testService()
    const person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 9_007_199_254 } })
    const { status, body } = await person.call('POST', '/v1/wallet/deposit', { body: { amount: 0.000001 } })
    expect(status).toBe(400)
    expect(body.details.amount).toContain('9007199254')
    await service.close()
  })
})
