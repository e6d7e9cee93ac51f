import { DomainError, invalid } from '../kit/errors.ts'

/** The same for a token that never existed, another checkout's or network's, and one of test mode at a live checkout. */
export function passMissing(): DomainError {
  return new DomainError(
    'missing',
    'pass_not_found',
    'There is no such pass at this checkout. Check the link that you got when you paid.',
  )
}

export function passEnded(): DomainError {
  return new DomainError('expired', 'pass_ended', 'This pass has ended. Buy a new one or pay for a single run.')
}

export function passUsedUp(): DomainError {
  const sentence = 'All runs of this pass are used. Buy more runs or pay for a single run.'
  return new DomainError('conflict', 'pass_used_up', sentence)
}

/** While a refund of it is under way. */
export function passSuspended(): DomainError {
  const sentence = 'A payment for this pass is being refunded, so it cannot be used now. Pay for a single run.'
  return new DomainError('conflict', 'pass_suspended', sentence)
}

/** The wallet has neither a pass nor a trial run left. */
export function noRunLeft(trialRuns: number): DomainError {
  const sentence =
    trialRuns === 0
      ? 'This wallet has no pass at this checkout. Pay for a run or buy a plan.'
      : 'This wallet has used its trial runs and has no pass at this checkout. Pay for a run or buy a plan.'
  return new DomainError('conflict', 'no_run_left', sentence)
}

export function trialsGone(resetsAt: Date): DomainError {
  return new DomainError(
    'limited',
    'trials_used_up',
    'All trial runs of today are used. Try again tomorrow or pay for a run.',
    { resetsAt: resetsAt.toISOString() },
  )
}

export function proofExpired(): DomainError {
  const sentence = 'This signature has expired or is valid for more than ten minutes. Sign again.'
  return new DomainError('expired', 'proof_expired', sentence)
}

export function proofRefused(): DomainError {
  const why = 'must be a signature of this wallet for this checkout, this input and this time'
  return invalid({ 'proof.signature': why }, 'invalid_proof')
}

export function ownPassMissing(): DomainError {
  return new DomainError('missing', 'pass_not_found', 'You have no such pass.')
}
