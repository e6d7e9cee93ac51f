import { testService, type TestService } from '../../harness/service.ts'

describe('GET /tools → 400', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=1.5', 'offset'],
    [`search=${'a'.repeat(1_001)}`, 'search'],
    ['search=%00', 'search'],
    [`provider=${'a'.repeat(65)}`, 'provider'],
    ['provider=a&provider=b', 'provider'],
    [`category=${'a'.repeat(65)}`, 'category'],
    [`collection=${'a'.repeat(65)}`, 'collection'],
  ])('%s', async (query, field) => {
    const { status, body } = await service.call('GET', `/tools?${query}`)
    expect(status).toBe(400)
    expect(body.details).toEqual({ [field]: expect.any(String) })
  })
})
