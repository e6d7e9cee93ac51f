import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /pay → 400, 401, 503', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService()
    person = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  const sound = { url: 'https://seller.test/x', maxAmount: 1 }
  test.each([
    [{}, ['url', 'maxAmount']],
    [{ ...sound, url: 'seller.test' }, ['url']],
    [{ ...sound, url: 'ftp://seller.test/' }, ['url']],
    [{ ...sound, url: 'https://' }, ['url']],
    [{ ...sound, url: `https://seller.test/${'x'.repeat(2048)}` }, ['url']],
    [{ ...sound, maxAmount: 0 }, ['maxAmount']],
    [{ ...sound, maxAmount: -1 }, ['maxAmount']],
    [{ ...sound, maxAmount: 0.0000001 }, ['maxAmount']],
    [{ ...sound, maxAmount: '1' }, ['maxAmount']],
    [{ ...sound, method: 'TRACE' }, ['method']],
    [{ ...sound, headers: { 'X-Payment': 'mine' } }, ['headers']],
    [{ ...sound, headers: { 'payment-signature': 'mine' } }, ['headers']],
    [{ ...sound, headers: { a: 1 } }, ['headers.a']],
    [{ ...sound, price: 1 }, ['price']],
  ])('%o', async (body, fields) => {
    const answer = await person.call('POST', '/v1/pay', { body })
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'invalid_input' })
    expect(Object.keys(answer.body.details as object)).toEqual(fields)
  })

  test.each([
    ['a private address', { ...sound, url: 'http://127.0.0.1:9/' }, 'address_refused'],
    ['a metadata address', { ...sound, url: 'http://169.254.169.254/latest/' }, 'address_refused'],
    ['a private address in other words', { ...sound, url: 'http://[::ffff:10.0.0.1]/' }, 'address_refused'],
    ['credentials in the address', { ...sound, url: 'https://a:b@seller.test/' }, 'address_refused'],
    ['a header that is ours', { ...sound, headers: { Host: 'other.test' } }, 'header_refused'],
    ['a header with a line break', { ...sound, headers: { a: 'b\r\nc: d' } }, 'header_refused'],
  ])('%s is not called', async (_, body, code) => {
    const answer = await person.call('POST', '/v1/pay', { body })
    expect([answer.status, answer.body.code]).toEqual([400, code])
    expect((await person.call('GET', '/v1/pay')).body.total).toBe(0)
  })

  test('401 without authentication', async () => {
    expect((await service.call('POST', '/v1/pay', { body: sound })).status).toBe(401)
    expect((await service.call('GET', '/v1/pay/pay_x')).status).toBe(401)
  })
})
