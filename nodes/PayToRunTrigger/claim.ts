import { randomUUID } from 'node:crypto'
import { sleep, type IWebhookFunctions } from 'n8n-workflow'
import { ask, type HttpResult } from '../shared/transport.ts'

export interface ClaimTime {
  /** When the service no longer reads the answer to this delivery. */
  untilMs: number
  /** Before each further attempt: a replica that has just died is still chosen for a moment. */
  pausesMs?: readonly number[]
  now?: () => number
}

/**
 * Claims the delivery at the service, which gives it to one caller. Where the answer may have been lost, the claim is sent again:
 * under the same key, because otherwise it would look like another worker's.
 */
export async function claim(
  webhook: IWebhookFunctions,
  deliveryId: string,
  { untilMs, pausesMs = PAUSES_MS, now = Date.now }: ClaimTime,
): Promise<HttpResult> {
  const path = `/deliveries/${encodeURIComponent(deliveryId)}/claim`
  const idempotencyKey = randomUUID()
  const attempt = () => {
    const timeoutMs = Math.min(ATTEMPT_MS, untilMs - now())
    return ask(webhook, { method: 'POST', path, idempotencyKey, timeoutMs })
  }
  let answer = await attempt()
  for (const pauseMs of pausesMs) {
    if (answer.reached && answer.status < 500) break
    if (isTooLate({ untilMs, now }, pauseMs)) break
    await sleep(pauseMs)
    answer = await attempt()
  }
  return answer
}

/** Whether an attempt after this pause has no time left to be answered. */
export function isTooLate({ untilMs, now = Date.now }: ClaimTime, pauseMs = 0): boolean {
  return untilMs - now() - pauseMs < ATTEMPT_MS_MIN
}

const ATTEMPT_MS = 5_000
const ATTEMPT_MS_MIN = 1_000
const PAUSES_MS = [1_000, 2_000]
