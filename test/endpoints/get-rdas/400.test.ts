import { testService, type TestService } from '../../harness/service.ts'

describe('GET /rdas → 400', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    ['type=workflow', 'type'],
    ['type=prompt&type=agent', 'type'],
    ['status=deleted', 'status'],
    ['verified=yes', 'verified'],
    ['featured=1', 'featured'],
    ['trending=', 'trending'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=1.5', 'offset'],
    ['ownerId=', 'ownerId'],
    [`search=${'a'.repeat(201)}`, 'search'],
    ['search=%00', 'search'],
  ])('%s', async (query, field) => {
    const { status, body } = await service.call('GET', `/v1/rdas?${query}`)
    expect(status).toBe(400)
    expect(Object.keys(body.details as object)).toEqual([field])
  })
})
