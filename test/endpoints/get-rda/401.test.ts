import { ALLOWED, promptBody } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

describe('GET /rda/{identifier} → 401', () => {
  test('a draft without authentication, and too many such reads are limited by address', async () => {
    const service = await testService({ ...ALLOWED, RATE_DRAFT_READS_PER_MINUTE: '3' })
    const creator = await service.person()
    const body = promptBody()
    await creator.call('POST', '/v1/rda', { body })
    const path = `/v1/rda/${String(body['slug'])}`
    for (let read = 0; read < 3; read++) {
      const answer = await service.call('GET', path)
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 401, code: 'draft_unauthenticated' })
      expect(answer.text).not.toContain('Summarizer')
    }
    const limited = await service.call('GET', path)
    expect(limited.status).toBe(429)
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/)
    // Callers that authenticate are not counted.
    expect((await creator.call('GET', path)).status).toBe(200)
    await service.close()
  })
})
