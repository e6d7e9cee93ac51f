import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The request or job that the current work belongs to. The API and the queue's runner set it; it is never passed as an
 * argument. It is only for the log and for traces: no decision reads it.
 */
export interface Context {
  /** Added to each line of the log. Grows as ids become known. */
  readonly tags: ContextTags
  /** The current step of a trace; only service/tracing reads it. */
  readonly step?: unknown
  /** Work that several requests share. It belongs to none of them alone. */
  readonly shared?: true
}

export type ContextTags = Partial<Record<string, string>>

const contexts = new AsyncLocalStorage<Context>()

export function currentContext(): Context | undefined {
  return contexts.getStore()
}

export function within<T>(context: Context, work: () => T): T {
  return contexts.run(context, work)
}

/** Tags the context with one of our ids. The first id of a kind stays. */
export function tagContext(value: unknown): void {
  const tags = contexts.getStore()?.tags
  if (tags === undefined || typeof value !== 'string' || value.length > LONGEST) return
  const name = NAMES.get(value.slice(0, value.indexOf('_')))
  if (name !== undefined && tags[name] === undefined && BODY.test(value)) tags[name] = value
}

/** Tags the context with the ids at the top of a decoded request or a job's payload. */
export function tagContextWith(values: unknown): void {
  if (typeof values !== 'object' || values === null) return
  for (const value of Object.values(values)) tagContext(value)
}

/**
 * The context of work that several requests share, such as a batch. The log names none of them, and the trace of the
 * first one includes the work.
 */
export function sharedContext(contexts: readonly (Context | undefined)[]): Context {
  const [only] = contexts
  if (contexts.length === 1 && only !== undefined) return only
  const traced = contexts.find((context) => context?.step !== undefined)
  return traced === undefined ? { tags: {} } : { tags: {}, step: traced.step, shared: true }
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['run', 'runId'],
  ['chk', 'checkoutId'],
  ['pay', 'paymentId'],
  ['dlv', 'deliveryId'],
  ['call', 'callId'],
  ['wdr', 'withdrawalId'],
  ['dep', 'depositId'],
  ['pwl', 'paywallId'],
  ['agt', 'agentId'],
  ['apr', 'approvalId'],
  ['rda', 'rdaId'],
  ['op', 'operation'],
])
const BODY = /^[a-z]{2,4}_[0-9a-z]{26}$/
const LONGEST = 31
