import { Webhook } from 'standardwebhooks'
import type { TestService } from '../../harness/service.ts'

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** As the provider sends it: signed by the standard's own library. */
export function sendEvent(service: TestService, event: unknown, change: Change = {}) {
  const { prefix = 'webhook', secret = SECRET, at = service.clock.now(), id = 'msg_1' } = change
  const raw = typeof event === 'string' ? event : JSON.stringify(event)
  const headers = {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
    [`${prefix}-signature`]: new Webhook(secret).sign(id, at, raw),
    ...change.headers,
  }
  return service.call('POST', '/v1/hooks/identity', { raw: change.body ?? raw, headers })
}

interface Change {
  prefix?: 'webhook' | 'svix'
  secret?: string
  at?: Date
  id?: string
  body?: string
  headers?: Record<string, string>
}
