import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('PATCH /v1/me → 400', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '0' })
    person = await service.person()
  })
  afterAll(() => service.close())

  test.each([
    [{}],
    [{ handle: 'ab' }],
    [{ handle: 'a'.repeat(41) }],
    [{ handle: 'Ann' }],
    [{ handle: '-ann' }],
    [{ handle: 'ann-' }],
    [{ handle: 'a--n' }],
    [{ handle: 'änn' }],
    [{ handle: 'ann/mcp' }],
    [{ handle: 'ann\n' }],
    [{ handle: 5 }],
    [{ handle: 'ann', name: 'Ann' }],
    [{ handle: 'coinslot' }],
    [{ handle: 'admin' }],
  ])('%j', async (body) => {
    const answer = await person.call('PATCH', '/v1/me', { body })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_input'])
    expect((await person.call('GET', '/v1/me')).body.handle).toBeNull()
  })
})
