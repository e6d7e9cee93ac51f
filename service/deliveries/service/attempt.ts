import { Batch } from '../../kit/batch.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Owner } from '../../kit/owner.ts'
import { FAILS_FIRST, type Attempt } from '../model.ts'
import type { Concluded, Outgoing } from '../ports.ts'
import { KEEP_BYTES_MAX, toKept, WAIT_MS } from '../rules/answer.ts'
import { verdictOf, type Verdict } from '../rules/schedule.ts'
import { signatureOf } from '../rules/signature.ts'
import { createLanes, type Lanes } from './lanes.ts'
import type { DeliveriesDeps } from './parts.ts'
import type { createRecord } from './record.ts'
import type { Secrets } from './secrets.ts'

/** One turn of a delivery: sent if it is still that turn, and written down. Safe to call twice. */
export function createAttempt(deps: AttemptDeps) {
  const { store, clock, log, record, secrets } = deps
  const lanes = createLanes(deps.lanes, () => deps.chance())
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
    if (delivery.target?.open === false) {
      await record.failed({ id, turn, attempt: null, error: 'endpoint_disabled', verdict: 'gone' })
      return
    }
    if (failsFirst(delivery)) {
      const attempt = {
        at: clock.now(),
        durationMs: 0,
        status: null,
        error: 'simulated_failure',
        answer: null,
        id,
        turn,
      }
      // Without its target, whose own failures are counted, and its owner is told of nothing: anybody may simulate.
      const tried = { ...attempt, target: null }
      await record.failed({ id, turn, attempt: tried, error: null, verdict: 'gone', silent: true })
      return
    }
    const place = await lanes.enter(lanesOf(delivery.owner, delivery.url, delivery.waitMs))
    if ('stayAwayMs' in place) {
      deps.count('delivery waits')
      await record.wait({ id, turn, dueAt: new Date(clock.now().getTime() + place.stayAwayMs) })
      return
    }
    const made = await send(delivery, signal).finally(() => {
      place.leave()
    })
    await write(delivery, made)
  }

  async function send(delivery: Outgoing, signal: AbortSignal): Promise<Made> {
    const { id, url, body, waitMs } = delivery
    const at = clock.now()
    const started = performance.now()
    const seconds = Math.floor(at.getTime() / 1000)
    const received: Received = { status: null, chunks: [], error: null }
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
        // A redirect is an answer like any other that is no 2xx: followed, the body would go where nobody meant it to.
        redirects: 'pass',
        truncate: true,
        signal,
      })
      received.status = answer.status
      for await (const chunk of answer.body) received.chunks.push(chunk as Buffer)
    } catch (error) {
      // The process is stopping: whoever takes the row over tries again.
      signal.throwIfAborted()
      if (!(error instanceof DomainError)) throw error
      received.error = error.code
    }
    return toMade(received, at, performance.now() - started, delivery.keepBytes)
  }

  async function write({ id, turn, target }: Outgoing, { verdict, attempt }: Made): Promise<void> {
    const concluded: Concluded = { ...attempt, id, turn, target: target?.id ?? null }
    deps.count(`delivery ${verdict}`)
    if (verdict === 'confirmed') await record.confirmed(concluded)
    else await record.failed({ id, turn, attempt: concluded, error: null, verdict })
    if (target === null) return
    const { status } = attempt
    try {
      await deps.attempted(target.id, { status, kind: status === null ? 'failed' : 'answered' })
    } catch (error) {
      log.warn({ err: error, target: target.id }, 'what an attempt came to could not be told')
    }
  }
}

type AttemptDeps = Pick<
  DeliveriesDeps,
  'store' | 'post' | 'clock' | 'log' | 'chance' | 'lanes' | 'attempted' | 'count'
> & {
  record: ReturnType<typeof createRecord>
  secrets: Secrets
}

function failsFirst({ headers, attempts }: Outgoing): boolean {
  return attempts === 0 && Object.keys(FAILS_FIRST).every((name) => headers[name] === 'true')
}

interface Received {
  status: number | null
  chunks: Buffer[]
  error: string | null
}

interface Made {
  verdict: Verdict
  attempt: Attempt
}

/** A status that came counts, also where the body that should follow it breaks off: the receiver has it. */
function toMade({ status, chunks, error }: Received, at: Date, tookMs: number, keepBytes: number): Made {
  const body = Buffer.concat(chunks)
  const answer = status === null ? null : toKept(body, keepBytes)
  const verdict = verdictOf(status, status === null ? null : toKept(body, KEEP_BYTES_MAX))
  return { verdict, attempt: { at, durationMs: Math.round(tookMs), status, error, answer } }
}

/** Those that may take minutes do not fill the lanes of those that take moments. */
function lanesOf(owner: Owner, url: string, waitMs: number): Parameters<Lanes['enter']>[0] {
  // What is no address fails as an attempt does, when it is called.
  const origin = URL.canParse(url) ? new URL(url).origin : url
  const kind = waitMs > WAIT_MS ? 'long' : 'short'
  const account = `${kind} ${owner.environment} ${owner.userId}`
  return {
    own: `${kind} ${owner.userId} ${origin}`,
    host: `${kind} ${origin}`,
    account,
    environment: `${kind} ${owner.environment}`,
  }
}
