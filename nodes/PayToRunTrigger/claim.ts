import { randomUUID } from 'node:crypto'
import { sleep, type IWebhookFunctions } from 'n8n-workflow'
import { ask, type HttpResult } from '../shared/transport.ts'

export interface ClaimTime {
  /** When the service no longer reads the answer to this delivery. */
  untilMs: number
  /** Before each further attempt: a replica that has just died is still chosen for a moment. */
  pausesMs?: readonly number[]
}

/**
 * Claims the delivery at the service, which gives it to one caller. Where the answer may have been lost, the claim is sent again:
 * under the same key, because otherwise it would look like another worker's.
 */
export async function claim(
  webhook: IWebhookFunctions,
  deliveryId: string,
  { untilMs, pausesMs = PAUSES_MS }: ClaimTime,
): Promise<HttpResult> {
  const path = `/deliveries/${encodeURIComponent(deliveryId)}/claim`
  const idempotencyKey = randomUUID()
  const attempt = (timeoutMs: number) => ask(webhook, { method: 'POST', path, idempotencyKey, timeoutMs })
  let answer = await attempt(ATTEMPT_MS)
  for (const pauseMs of pausesMs) {
    if (answer.reached && answer.status < 500) break
    const leftMs = untilMs - Date.now() - pauseMs
    if (leftMs < ATTEMPT_MS_MIN) break
    await sleep(pauseMs)
    answer = await attempt(Math.min(ATTEMPT_MS, leftMs))
  }
  return answer
}

const ATTEMPT_MS = 5_000
const ATTEMPT_MS_MIN = 1_000
const PAUSES_MS = [1_000, 2_000]
