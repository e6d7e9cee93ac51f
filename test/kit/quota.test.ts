import { answerError } from '../../service/api/errors.ts'
import { quotaExceeded } from '../../service/kit/quota.ts'

test('a quota that only deletion frees names what to delete, and has no reset time', () => {
  const { status, headers, body } = answerError(quotaExceeded('keys', 50, null), 'req_1')
  expect(status).toBe(429)
  expect(headers).not.toHaveProperty('Retry-After')
  expect(body).toEqual({
    error:
      'Quota exceeded: an account may have at most 50 API keys. Revoke a key that you no longer use and try again.',
    code: 'quota_exceeded',
    requestId: 'req_1',
    quota: 'keys',
    limit: 50,
    resetsAt: null,
  })
})

test('a quota of a window says when it starts over', () => {
  const resetsAt = new Date('2026-11-22T14:00:00Z')
  const refused = quotaExceeded('imports_per_hour', 20, resetsAt)
  expect(refused.message).toContain('Try again after 2026-11-22T14:00:00.000Z.')
  expect(refused.fields).toEqual({ quota: 'imports_per_hour', limit: 20, resetsAt: '2026-11-22T14:00:00.000Z' })
})
