import type { Address } from '../../chain/model.ts'
import type { AnsweredDelivery } from '../../deliveries/model.ts'
import { cut } from '../../kit/answer.ts'
import { invalid, type DomainError } from '../../kit/errors.ts'
import { toDecimal, type Usdc } from '../../kit/money.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import type { Sale, WorkResult } from '../../sales/model.ts'
import { paymentRefused } from '../../sales/errors.ts'
import { workFailed } from '../errors.ts'
import { isLate, type Capture, type Checkout, type Terms, type WorkFailure } from '../model.ts'
import { largestTotal } from './price.ts'

/** What a seller may promise to work for before the money has moved. */
export interface CaptureLimits {
  priceMax: Usdc
  secondsMax: number
  /** The address that ends payments in the escrow here. Null where the server has none. */
  operator: Address | null
}

/** Why a held payment was given up, in the buyer's words. */
const WORK_FAILURES = {
  workflow_failed: 'The order could not be completed. Nothing was charged.',
  workflow_unreachable: 'The order could not be delivered to the seller. Nothing was charged.',
  workflow_timeout: 'The order took too long. Nothing was charged.',
} as const satisfies Record<WorkFailure, string>

/** In the seller's words where there are some. Null for a reason that the chain gave. */
export function sentenceOfWork(reason: string | null, explained: string | null): string | null {
  if (!isWorkFailure(reason)) return null
  return explained === null ? WORK_FAILURES[reason] : `${explained} Nothing was charged.`
}

function isWorkFailure(reason: string | null): reason is WorkFailure {
  return reason !== null && Object.hasOwn(WORK_FAILURES, reason)
}

/** Why a failed payment was not charged, for its buyer. */
export function whyUnpaid(sale: Pick<Sale, 'id' | 'product' | 'payer' | 'reason' | 'result'>): DomainError {
  const { id, reason, result } = sale
  const sentence = sentenceOfWork(reason, result?.status === 'failed' ? result.answer : null)
  return isWorkFailure(reason) && sentence !== null ? workFailed(id, reason, sentence) : paymentRefused(reason, sale)
}

/** What a sale stores about how it is captured. The checkout may be changed while its work is under way. */
export function holdOf({ capture, responseMode }: Pick<Checkout, 'capture' | 'responseMode'>) {
  return isLate(capture) ? { capture, answers: responseMode === 'lastNode' } : {}
}

export function captureOf({ details }: Pick<Sale, 'details'>): Capture {
  const { capture } = details
  return capture === 'onSuccess' || capture === 'escrow' ? capture : 'onPayment'
}

export function isCapturedLate(sale: Pick<Sale, 'details'>): boolean {
  return isLate(captureOf(sale))
}

/** How the work of a held sale has ended; null while that is not known and there is time. */
export function outcomeOf(
  { details, leaseUntil }: Pick<Sale, 'details' | 'leaseUntil'>,
  delivery: Pick<AnsweredDelivery, 'state' | 'lastStatus' | 'lastError' | 'answer'> | undefined,
  now: Date,
): WorkResult | null {
  switch (delivery?.state) {
    case 'delivered':
      // Without an answer of the last node a 2xx only says that the workflow has started: the seller reports the rest.
      if (details['answers'] === true) return succeeded(null, now)
      break
    case 'unconfirmed':
      return failed(delivery.lastError === TIMED_OUT ? 'workflow_timeout' : 'workflow_failed', null, now)
    case 'stopped':
    case 'exhausted':
      return isRefusal(delivery)
        ? failed('workflow_failed', explanationIn(delivery.answer), now)
        : failed('workflow_unreachable', null, now)
    case 'pending':
    case 'claimed':
    case undefined:
  }
  return leaseUntil === null || leaseUntil <= now ? failed('workflow_timeout', null, now) : null
}

/** With it a receiver says that a held order has failed for good. */
export const FAILED_STATUS = 410

/** The receiver's last answer ended the order: it says that it has failed. */
export function isRefusal({ state, lastStatus }: Pick<AnsweredDelivery, 'state' | 'lastStatus'>): boolean {
  return state === 'stopped' && lastStatus !== null && lastStatus >= 400
}

/** What a receiver says about its failure, for the buyer: `error` or `message` of its JSON, as plain text. */
export function explanationIn(answer: string | null): string | null {
  const said = recordIn(answer)
  const error = said['error']
  const texts = [error, isRecord(error) ? error['message'] : null, said['message']]
  const text = texts.find((one) => typeof one === 'string')
  if (typeof text !== 'string') return null
  const plain = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()
  if (plain === '') return null
  return plain.length > EXPLANATION_MAX ? `${cut(plain, EXPLANATION_MAX)}…` : plain
}

const EXPLANATION_MAX = 300

function recordIn(text: string | null): Readonly<Record<string, unknown>> {
  if (text?.trimStart().startsWith('{') !== true) return {}
  try {
    const parsed: unknown = JSON.parse(text)
    return isRecord(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

/** The delivery's error where its receiver did not answer in time. */
const TIMED_OUT = 'response_timeout'

export function succeeded(answer: string | null, now: Date): WorkResult {
  return { status: 'succeeded', answer, reason: null, at: now.toISOString() }
}

/** `answer`: the seller's explanation for the buyer. */
export function failed(reason: WorkFailure, answer: string | null, now: Date): WorkResult {
  return { status: 'failed', answer, reason, at: now.toISOString() }
}

/** The seller works before the money has moved, so the price and the time are bounded. */
export function assertCapture(terms: Terms, { priceMax, secondsMax, operator }: CaptureLimits): void {
  const { capture, runSeconds, pricing, plans, refundOnFailure, testMode } = terms
  if (runSeconds > secondsMax) throw invalid({ runSeconds: `must be at most ${String(secondsMax)} on this server` })
  if (capture === 'onPayment') return
  if (refundOnFailure) {
    throw invalid({
      refundOnFailure: `must be false with capture ${capture}: a failure is not charged in the first place`,
    })
  }
  if (capture === 'escrow') {
    if (operator === null && !testMode) {
      throw invalid({ capture: 'must not be escrow: this server has no sponsor that could be the operator' })
    }
    return
  }
  const most = `${toDecimal(priceMax)} USDC with capture onSuccess, because the workflow runs before it is paid`
  const dear = plans.findIndex((plan) => plan.price > priceMax)
  if (dear !== -1) throw invalid({ [`plans.${String(dear)}.price`]: `must be at most ${most}` })
  if (largestTotal(terms) > priceMax) {
    const fault = pricing.kind === 'fixed' ? `must be at most ${most}` : `must not allow payments of more than ${most}`
    throw invalid({ [BOUND_BY[pricing.kind]]: fault })
  }
}

/** The member of the terms that bounds a payment. */
const BOUND_BY = { fixed: 'price', quantity: 'pricing.max', choose: 'pricing.max', byField: 'pricing.prices' } as const
