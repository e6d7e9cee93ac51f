import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import { DomainError, type Kind } from '../kit/errors.ts'
import { toWire, type Usdc } from '../kit/money.ts'
import { didYouMean } from '../kit/nearest.ts'
import type { Failure, FreeRunsBound, Run, RunState, UnpaidBound } from './model/run.ts'

/** A refusal that is the same for everybody. */
function refusal(kind: Kind, code: ErrorCode, sentence: string): () => DomainError {
  return () => new DomainError(kind, code, sentence)
}

/** `meant` is the slug of a published one that was probably meant. */
export function assetMissing(meant: string | null = null): DomainError {
  return new DomainError('missing', 'rda_not_found', `There is no such marketplace asset.${didYouMean(meant)}`, {
    didYouMean: meant,
  })
}

/** Only for callers without credentials: to authenticated ones a draft of another account is missing. */
export const draftNeedsOwner = refusal(
  'unauthenticated',
  'draft_unauthenticated',
  'This marketplace asset is a draft: only its owner can read it.',
)

export const agentMayNotSee = refusal(
  'forbidden',
  'agent_key_forbidden',
  "An agent's key lists published marketplace assets only.",
)

export const listNeedsOwner = refusal(
  'unauthenticated',
  'unauthenticated',
  'Only published marketplace assets are public: authenticate to list your own drafts and archived ones.',
)

export const archivedStays = refusal(
  'conflict',
  'rda_archived',
  'This marketplace asset is archived: publish it to bring it back.',
)

export const ownRating = refusal('forbidden', 'own_rda', 'You cannot rate your own marketplace asset.')

export const ratingNeedsRun = refusal(
  'forbidden',
  'run_required',
  'You have no successful run of this marketplace asset. Run it before you rate it.',
)

export function alreadyRated(score: number): DomainError {
  return new DomainError('conflict', 'already_rated', 'You have already rated this marketplace asset.', { score })
}

export const reviewNeedsPayment = refusal(
  'forbidden',
  'review_needs_payment',
  'You have not paid for a run of this marketplace asset. Pay for one before you review it, or send the score alone.',
)

export const tooManyReviews = refusal(
  'limited',
  'review_limit',
  'You have written as many reviews as an account may in a day. Send the score alone, or try again tomorrow.',
)

export const reviewMissing = refusal('missing', 'review_not_found', 'This marketplace asset has no such review.')

export const reviewAnswered = refusal(
  'conflict',
  'review_answered',
  'You have already answered this review. An answer cannot change.',
)

export const sourceNotForSale = refusal(
  'forbidden',
  'source_not_for_sale',
  'The template of this marketplace asset is not for sale.',
)

export function notAPrompt(): DomainError {
  const details = { id: 'must be a prompt' }
  return new DomainError('invalid', 'not_a_prompt', 'Only prompts have a template.', { details })
}

export function sourceDearer(price: number): DomainError {
  const sentence = 'The template costs more than maxCost. Raise maxCost and try again.'
  return new DomainError('unaffordable', 'max_cost_exceeded', sentence, { required: price })
}

export const runMissing = refusal(
  'missing',
  'run_not_found',
  'There is no such run. A request that was refused started no run, so the runId of its answer cannot be looked up.',
)

/** For the caller of a run that ended without an output. */
export function runFailed(run: Pick<Run, 'state'>, failure: Failure): DomainError {
  return new DomainError(run.state === 'canceled' ? 'conflict' : 'failed', failure.code, failure.sentence)
}

/** It was paid before it ran. */
export function runReturned({ code, sentence }: Failure, { id: paymentId }: { id: string }): DomainError {
  const text = `${sentence.replace(/(,| and|; the run) was not charged/, '')} The payment goes back to its payer.`
  return new DomainError('failed', code, text, { paymentId, paid: true, refunded: true })
}

export function isReturned(error: unknown): boolean {
  return error instanceof DomainError && error.fields['refunded'] === true
}

/** Executed, but whether it was charged is not known yet: it is by its deadline at the latest. */
export const runUnsettled = refusal(
  'unavailable',
  'run_unsettled',
  'The settlement of the run is pending: get the run by its id.',
)

/** The creator pays for a free run, and must know its caller. */
export const needsKey = refusal(
  'invalid',
  'needs_key',
  'This marketplace asset is free: its creator pays for the run. Run it with an API key: POST /v1/run.',
)

export const tooOften = refusal('failed', 'run_failed_too_often', 'The run has failed too often for this payment.')

export function runEnded(state: RunState): DomainError {
  return new DomainError('conflict', 'run_ended', `The run has ended already: ${state}.`, { status: state })
}

export const priceChanged = refusal(
  'conflict',
  'price_changed',
  'The price has changed since this page was opened. Nothing was charged. Check the new price and run it again.',
)

export function tooDear(required: Usdc, maxCost: Usdc, available: Usdc): DomainError {
  return new DomainError(
    'unaffordable',
    'max_cost_exceeded',
    'This run may cost more than maxCost. Raise maxCost and try again.',
    {
      required: toWire(required),
      available: toWire(available),
      maxCost: toWire(maxCost),
    },
  )
}

/** Does not say how much the creator has. */
export function creatorCannotPay(cause: unknown): DomainError {
  const sentence = 'This free prompt cannot run: its creator has insufficient funds for the model.'
  return new DomainError('unavailable', 'creator_unfunded', sentence).causedBy(cause)
}

/** The creator pays for the model of a free run, for a limited number of them a day. */
export function freeRunsUsedUp(of: FreeRunsBound, resetsAt: Date, now: Date): DomainError {
  const until = resetsAt.toISOString()
  const sentence = {
    caller: `You have used up your free runs of this creator for today. Try again after ${until}.`,
    day: `The free runs that this creator pays for are used up for today. Try again after ${until}.`,
    asset: `The free runs of this asset are used up for today. Try again after ${until}.`,
  }[of]
  return new DomainError('limited', 'free_runs_used_up', sentence, {
    resetsAt: until,
    retryAfterSeconds: secondsUntil(resetsAt, now),
  })
}

/** Vendors bill models also for runs that fail, which nobody pays. */
export function unpaidCostsReached(of: UnpaidBound, resetsAt: Date, now: Date): DomainError {
  const until = resetsAt.toISOString()
  const sentence = {
    caller: `Your failed runs have used up the model costs that we bear in a day. Try again after ${until}.`,
    creator: `Failed runs of this creator's prompts have used up the model costs that we bear in a day. Try again after ${until}.`,
  }[of]
  const retryAfterSeconds = secondsUntil(resetsAt, now)
  return new DomainError('limited', 'unpaid_model_costs', sentence, { resetsAt: until, retryAfterSeconds })
}

function secondsUntil(at: Date, now: Date): number {
  return Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1_000))
}

export function rateReached(retryAfterSeconds: number): DomainError {
  const sentence = `This tool has reached its limit of calls per minute, or you have used up your half of it; try again in ${String(retryAfterSeconds)} seconds.`
  return new DomainError('limited', 'rda_rate_limited', sentence, { retryAfterSeconds })
}

/** Why an execution gave no output. For the caller it is a run that failed, so it has no kind. */
export class ExecutionFailed extends Error {
  override readonly name = 'ExecutionFailed'
  readonly failure: Failure

  constructor(code: ErrorCode, reason: string | Omit<Failure, 'code'>, cause?: unknown) {
    const failure = typeof reason === 'string' ? { code, sentence: reason } : { code, ...reason }
    super(failure.sentence, cause === undefined ? undefined : { cause })
    this.failure = failure
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
