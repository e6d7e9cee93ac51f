import { DomainError } from '../../kit/errors.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { Failure, FreeRunsBound, Run, RunState } from '../model/run.ts'

export function runMissing(): DomainError {
  return new DomainError('missing', 'run_not_found', 'There is no such run.')
}

/** What became of a run that gave nothing, for whoever waited for it. */
export function runFailed(run: Pick<Run, 'state'>, failure: Failure): DomainError {
  return new DomainError(run.state === 'canceled' ? 'conflict' : 'failed', failure.code, failure.sentence)
}

/** Executed, but whether it was charged is not known yet: it is by its deadline at the latest. */
export function runUnsettled(): DomainError {
  return new DomainError('unavailable', 'run_unsettled', 'The run is not settled yet: ask for it by its id.')
}

/** Free ones are paid for by their creator, who must know for whom. */
export function needsKey(): DomainError {
  return new DomainError(
    'invalid',
    'needs_key',
    'This RDA is free: its creator pays for the run. Run it with an API key: POST /v1/run.',
  )
}

export function tooOften(): DomainError {
  return new DomainError('failed', 'run_failed_too_often', 'The run has failed too often for this payment.')
}

export function runEnded(state: RunState): DomainError {
  return new DomainError('conflict', 'run_ended', `The run has ended already: ${state}.`, { status: state })
}

export function tooDear(required: Usdc, maxCost: Usdc, available: Usdc): DomainError {
  return new DomainError('unaffordable', 'max_cost_exceeded', 'This run may cost more than maxCost allows.', {
    required: toWire(required),
    available: toWire(available),
    maxCost: toWire(maxCost),
  })
}

/** Says nothing of what the creator has. */
export function creatorCannotPay(cause: unknown): DomainError {
  const sentence = 'This free prompt does not run: its creator has no funds for its model.'
  return new DomainError('unavailable', 'creator_unfunded', sentence, {}, cause)
}

/** Its creator pays for its model, and does so only so many times a day. */
export function freeRunsUsedUp(of: FreeRunsBound, resetsAt: Date): DomainError {
  const until = resetsAt.toISOString()
  const sentence = {
    caller: `You have used up your free runs of this creator for today. Try again after ${until}.`,
    day: `The free runs that this creator pays for are used up for today. Try again after ${until}.`,
    asset: `The free runs of this asset are used up for today. Try again after ${until}.`,
  }[of]
  return new DomainError('limited', 'free_runs_used_up', sentence, { resetsAt: until })
}

export function rateReached(retryAfterSeconds: number): DomainError {
  const sentence = `This tool has reached its calls a minute; try again in ${String(retryAfterSeconds)} seconds.`
  return new DomainError('limited', 'rda_rate_limited', sentence, { retryAfterSeconds })
}

/** Why an execution came to nothing; the kind is not told to the caller, to whom it is simply a run that failed. */
export class ExecutionFailed extends Error {
  override readonly name = 'ExecutionFailed'
  readonly failure: Failure

  constructor(code: string, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause })
    this.failure = { code, sentence }
  }
}

export const FAILURES = {
  canceled: { code: 'run_canceled', sentence: 'The run was canceled.' },
  late: { code: 'run_expired', sentence: 'The run took too long and was not charged.' },
  lost: { code: 'run_interrupted', sentence: 'The run was interrupted and was not charged.' },
  timeout: { code: 'run_timeout', sentence: 'The run did not finish in time.' },
  stopping: { code: 'run_interrupted', sentence: 'The service is restarting; the run was not charged.' },
  internal: { code: 'execution_failed', sentence: 'The run failed on our side and was not charged.' },
} as const satisfies Record<string, Failure>
