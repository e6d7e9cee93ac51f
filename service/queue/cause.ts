import { currentContext, type ContextTags } from '../kit/context.ts'
import type { Tracer } from '../kit/tracer.ts'
import type { JsonObject } from './model.ts'

/** The request or job that made an announcement, so that the handler's log and traces lead back to it. */
export interface Cause {
  concerns: ContextTags
  traceparent?: string
}

/**
 * Work that several requests share is announced without a cause, because the payload names the account. Rejected: a
 * column for it, which every statement that writes announcements itself would have to fill.
 */
export function causeHere(tracer: Tracer | null): Cause | undefined {
  const context = currentContext()
  if (context === undefined || context.shared === true) return undefined
  const concerns = Object.fromEntries(Object.entries(context.tags).filter(([name]) => !OF_A_JOB.has(name)))
  const traceparent = tracer?.parent()
  if (traceparent !== undefined) return { concerns, traceparent }
  return Object.keys(concerns).length === 0 ? undefined : { concerns }
}

export function withCause(payload: JsonObject, cause: Cause | undefined): JsonObject {
  return cause === undefined ? payload : { ...payload, [CAUSE]: cause as unknown as JsonObject }
}

export function withoutCause(payload: JsonObject): { payload: JsonObject; cause: Cause | undefined } {
  const { [CAUSE]: cause, ...rest } = payload
  return { payload: rest, cause: cause as unknown as Cause | undefined }
}

/** No topic's payload has a field of this name. */
const CAUSE = '@cause'
const OF_A_JOB: ReadonlySet<string> = new Set(['topic', 'row', 'sweeper'])
