import { DomainError } from '../kit/errors.ts'
import { sentenceOf } from '../x402/reasons.ts'
import type { SettleResult, GasShares } from './model.ts'

export function networkUnavailable(network: string, lacks: 'RPC' | 'sponsor'): DomainError {
  const sentence = `Payments on ${network} are not available: this facilitator has no ${lacks} for it.`
  return new DomainError('unavailable', 'network_unavailable', sentence, { retryAfterSeconds: 60 })
}

/** For sellers, thrown before any work is done. */
export function outOfGas(network: string): DomainError {
  const sentence = `Payments on ${network} are not possible right now: the facilitator cannot pay the gas. Nothing was charged; try again later.`
  return new DomainError('unavailable', 'facilitator_out_of_gas', sentence, { retryAfterSeconds: 60 })
}

export function gasSpent(network: string, of: keyof GasShares, retryAfterSeconds: number): DomainError {
  return of === 'network'
    ? new DomainError(
        'unavailable',
        'gas_budget_spent',
        `The gas budget for ${network} is used up for today. Try again tomorrow.`,
        { retryAfterSeconds },
      )
    : new DomainError(
        'limited',
        `${of}_gas_budget_spent`,
        `The gas budget for this ${of} on ${network} is used up for today. Try again tomorrow.`,
        {
          retryAfterSeconds,
        },
      )
}

/** The chain refused for a reason of ours. Neither seller nor buyer did anything wrong, so the answer is a 500. */
export function settlementFailed(
  answer: SettleResult & { status: 'failed' },
  body: Readonly<Record<string, unknown>>,
): DomainError {
  return new DomainError('failed', answer.reason, sentenceOf(answer.reason), body)
}

export function settlementMissing(): DomainError {
  return new DomainError('missing', 'settlement_not_found', 'This facilitator has no settlement of this authorization.')
}
