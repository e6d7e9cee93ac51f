import { V1, V2 } from '../../facilitator/bodies.ts'
import { testService } from '../../harness/service.ts'

describe.each([
  { door: 'verify', refused: { isValid: false } },
  { door: 'settle', refused: { success: false } },
])('POST {facilitator_url}/$door', ({ door, refused }) => {
  it.each([
    ['RPC', {}],
    ['sponsor', { BASE_SEPOLIA_RPC_URLS: 'http://127.0.0.1:9' }],
  ])('answers 503 where the network has no %s', async (lacks, environment) => {
    const service = await testService(environment)
    for (const body of [V1, V2]) {
      const answer = await service.call('POST', `/facilitator/${door}`, { body })
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('60')
      expect(answer.body).toMatchObject({
        error: expect.stringContaining(`no ${lacks}`),
        code: 'network_unavailable',
        ...refused,
      })
    }
    await service.close()
  })
})
