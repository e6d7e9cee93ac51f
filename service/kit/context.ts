import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * What the work at hand is about, from the request or the job that began it to the last statement of it. Set at the
 * rim and by the queue's runner; nobody hands it on. Decisions never read it: it is for the log and for traces alone.
 */
export interface Context {
  /** On each line that is logged meanwhile. Grows as ids become known. */
  readonly concerns: Concerns
  /** The step of a trace that is under way; only service/tracing looks into it. */
  readonly step?: unknown
  /** Several askers' work at once: what it leads to is nobody's in particular. */
  readonly shared?: true
}

export type Concerns = Partial<Record<string, string>>

const contexts = new AsyncLocalStorage<Context>()

export function currentContext(): Context | undefined {
  return contexts.getStore()
}

export function within<T>(context: Context, work: () => T): T {
  return contexts.run(context, work)
}

/** Notes a value that names something of ours; the first of a kind stays. */
export function tagContext(value: unknown): void {
  const concerns = contexts.getStore()?.concerns
  if (concerns === undefined || typeof value !== 'string' || value.length > LONGEST) return
  const name = NAMES.get(value.slice(0, value.indexOf('_')))
  if (name !== undefined && concerns[name] === undefined && BODY.test(value)) concerns[name] = value
}

/** The ids in a decoded request or a job's payload, wherever they stand at its top. */
export function concernIdsIn(values: unknown): void {
  if (typeof values !== 'object' || values === null) return
  for (const value of Object.values(values)) tagContext(value)
}

/**
 * Of work that several askers share, as the statement that takes all of them along: about none of them in the log,
 * and in a trace a part of the first's.
 */
export function sharedContext(contexts: readonly (Context | undefined)[]): Context {
  const [only] = contexts
  if (contexts.length === 1 && only !== undefined) return only
  const traced = contexts.find((context) => context?.step !== undefined)
  return traced === undefined ? { concerns: {} } : { concerns: {}, step: traced.step, shared: true }
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
