import { setTimeout as wait } from 'node:timers/promises'
import type { Credentials } from '../../../connections/model.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Progress } from '../../model/call.ts'
import type { UpstreamAnswer } from '../../model/tool.ts'
import type { LargePlace } from '../../ports/calls.ts'
import { restOf } from '../../rules/answer.ts'
import { pollOf, type Poll } from '../../rules/operation.ts'
import type { CallDeps } from './order.ts'

/** Waits for work that a tool has accepted. */
export function createWork({ upstreams, clock }: Pick<CallDeps, 'upstreams' | 'clock'>) {
  return {
    /** Asks until the work is done, or the time is over: then the poll says how to go on. */
    async untilDone(
      { answer, poll }: Begun,
      { credentials, until, waitMs, onProgress, large }: Waiting,
    ): Promise<Begun> {
      const last = performance.now() + waitMs
      const at: Begun = { answer, poll }
      let lost = 0
      for (let times = 1; at.poll !== null; times++) {
        const pauseMs = Math.max(at.poll.waitMs, times > QUICK ? PAUSE_MS : 0)
        // What was asked about never is asked once, however little time there is.
        if (at.answer !== null && performance.now() + pauseMs > last) break
        await wait(pauseMs, undefined, { signal: until })
        onProgress({ progress: 2 - 1 / times, total: 3, message: 'The tool is working on it' })
        const { request } = at.poll
        // What was accepted goes on, though a question or two about it are lost.
        const mayBeLost = at.answer !== null && lost < LOST_MAX
        const next = await upstreams.http(request, until, large).catch((error: unknown) => {
          if (mayBeLost && isOutage(error) && !until.aborted) return null
          throw error
        })
        const isLost = next === null || (mayBeLost && AWAY.has(next.status))
        lost = isLost ? lost + 1 : 0
        const restMs = isLost ? at.poll.waitMs : restOf(next, clock.now())
        if (restMs === null && next !== null) {
          at.poll = pollOf(next, at.poll.request, credentials, clock.now())
          at.answer = next
          continue
        }
        // What was accepted is not asked for again, only how far it is.
        at.poll = { ...at.poll, waitMs: restMs ?? at.poll.waitMs }
        if (performance.now() + at.poll.waitMs > last) break
      }
      return at
    },
  }
}

export interface Begun {
  /** Null until the tool has answered something else than that it wants no requests. */
  answer: UpstreamAnswer | null
  /** Null when there is nothing more to wait for. */
  poll: Poll | null
}

interface Waiting {
  credentials: Credentials
  until: AbortSignal
  waitMs: number
  onProgress: (progress: Progress) => void
  large: LargePlace | undefined
}

function isOutage(error: unknown): boolean {
  return error instanceof DomainError && OUTAGES.has(error.code)
}

/** A server, or what stands before it, is away for a moment. */
const OUTAGES: ReadonlySet<string> = new Set([
  'address_unresolvable',
  'connect_timeout',
  'connection_failed',
  'response_timeout',
])
const AWAY: ReadonlySet<number> = new Set([408, 502, 503, 504])
/** In a row. */
const LOST_MAX = 3

/** So often a server is asked as soon as it wishes, and then no sooner than this. */
const QUICK = 5
const PAUSE_MS = 250
