import { Batch } from '../../kit/batch.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Owner } from '../../kit/owner.ts'
import { FAILS_FIRST, FAILS_ON_ERROR, FETCHED, type Attempt } from '../model.ts'
import type { Concluded, Outgoing } from '../ports.ts'
import { KEEP_BYTES_MAX, toKept, WAIT_MS } from '../rules/messages.ts'
import { decisionOf, type Decision } from '../rules/schedule.ts'
import { signatureOf } from '../rules/messages.ts'
import type { DeliveriesDeps } from './deps.ts'
import type { createRecord } from './record.ts'
import type { Secrets } from './secrets.ts'
import { createSlots, type Slots } from './slots.ts'

/** One turn of a delivery: sent if the turn is still current, and recorded. Safe to call twice. */
export function createAttempt(deps: AttemptDeps) {
  const { store, clock, log, record, secrets } = deps
  const slots = createSlots(deps.slots, () => deps.chance())
  const loads = new Batch<string, Outgoing | 'none'>({
    largest: 500,
    async run(ids) {
      const found = await store.load(ids)
      return ids.map((id) => found.get(id) ?? 'none')
    },
  })

  return async function attempt({ id, turn }: { id: string; turn: number }, signal: AbortSignal): Promise<void> {
    const delivery = await loads.add(id)
    if (delivery === 'none' || delivery.turn !== turn || delivery.state !== 'pending') return
    if (delivery.target !== null && FETCHED.test(delivery.url)) {
      // Nothing is sent here, and this one's time is over.
      await record.failed({ id, turn, attempt: null, error: 'not_fetched', decision: 'gone', silent: true })
      await record.unfetched(delivery.target.id)
      return
    }
    if (delivery.target?.open === false) {
      await record.failed({ id, turn, attempt: null, error: 'endpoint_disabled', decision: 'gone' })
      return
    }
    if (failsFirst(delivery)) {
      const result = { status: null, error: 'simulated_failure', answer: null }
      // Any client may simulate, so the failure does not count against the target and the owner gets no notice.
      const attempt = { ...result, at: clock.now(), durationMs: 0, id, turn, target: null }
      await record.failed({ id, turn, attempt, error: null, decision: 'gone', silent: true })
      return
    }
    const slot = await slots.enter(slotsOf(delivery.owner, delivery.url, delivery.waitMs))
    if ('stayAwayMs' in slot) {
      deps.count('delivery waits')
      await record.wait({ id, turn, dueAt: new Date(clock.now().getTime() + slot.stayAwayMs) })
      return
    }
    const made = await send(delivery, signal).finally(() => {
      slot.leave()
    })
    await write(delivery, made)
  }

  async function send(delivery: Outgoing, signal: AbortSignal): Promise<Made> {
    const { id, url, body, waitMs } = delivery
    const at = clock.now()
    const started = performance.now()
    const seconds = Math.floor(at.getTime() / 1000)
    const received: Received = { status: null, chunks: [], error: null, retryAfter: false }
    const signature = signatureOf(await secrets.signing(delivery, at), id, seconds, body)
    try {
      const answer = await deps.post({
        url,
        method: 'POST',
        headers: {
          ...delivery.headers,
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(seconds),
          'webhook-signature': signature,
        },
        body,
        limits: { headersMs: waitMs, idleMs: waitMs, totalMs: waitMs, bodyBytes: KEEP_BYTES_MAX },
        // A redirect counts as a failure: the body was signed for this address alone.
        redirects: 'pass',
        truncate: true,
        signal,
      })
      received.status = answer.status
      received.retryAfter = answer.headers['retry-after'] !== undefined
      for await (const chunk of answer.body) received.chunks.push(chunk as Buffer)
    } catch (error) {
      // The process is stopping: another process tries again.
      signal.throwIfAborted()
      if (!(error instanceof DomainError)) throw error
      received.error = error.code
    }
    return toMade(received, at, performance.now() - started, delivery)
  }

  async function write({ id, turn, target, subject, headers }: Outgoing, { decision, attempt }: Made): Promise<void> {
    const concluded: Concluded = { ...attempt, id, turn, target: target?.id ?? null }
    deps.count(`delivery ${decision}`)
    if (decision === 'confirmed') await record.confirmed(concluded)
    else await record.failed({ id, turn, attempt: concluded, error: null, decision })
    if (target === null) return
    const { status } = attempt
    try {
      await deps.attempted(target.id, { status, kind: status === null ? 'failed' : 'answered', subject, headers })
    } catch (error) {
      log.warn({ err: error, target: target.id }, 'the result of an attempt could not be reported')
    }
  }
}

type AttemptDeps = Pick<
  DeliveriesDeps,
  'store' | 'post' | 'clock' | 'log' | 'chance' | 'slots' | 'attempted' | 'count'
> & {
  record: ReturnType<typeof createRecord>
  secrets: Secrets
}

function failsFirst({ headers, attempts }: Outgoing): boolean {
  return attempts === 0 && isMarked(headers, FAILS_FIRST)
}

function isMarked(headers: Outgoing['headers'], mark: Readonly<Record<string, string>>): boolean {
  return Object.entries(mark).every(([name, value]) => headers[name] === value)
}

interface Received {
  status: number | null
  chunks: Buffer[]
  error: string | null
  retryAfter: boolean
}

interface Made {
  decision: Decision
  attempt: Attempt
}

/** A status counts even if the body after it breaks off, because the receiver has the delivery. */
function toMade(
  { status, chunks, error, retryAfter }: Received,
  at: Date,
  tookMs: number,
  { keepBytes, headers }: Outgoing,
): Made {
  const body = Buffer.concat(chunks)
  const answer = status === null ? null : toKept(body, keepBytes)
  const isFinal = isMarked(headers, FAILS_ON_ERROR)
  const decision = decisionOf(
    { status, answer: status === null ? null : toKept(body, KEEP_BYTES_MAX), retryAfter },
    isFinal,
  )
  return { decision, attempt: { at, durationMs: Math.round(tookMs), status, error, answer } }
}

/** Attempts that may take minutes have separate slots. */
function slotsOf(owner: Owner, url: string, waitMs: number): Parameters<Slots['enter']>[0] {
  // An invalid address fails when it is called.
  const origin = URL.canParse(url) ? new URL(url).origin : url
  const kind = waitMs > WAIT_MS ? 'long' : 'short'
  return {
    own: `${kind} ${owner.userId} ${origin}`,
    host: `${kind} ${origin}`,
    account: `${kind} ${owner.environment} ${owner.userId}`,
    environment: `${kind} ${owner.environment}`,
  }
}
