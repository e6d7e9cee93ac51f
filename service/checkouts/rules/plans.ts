import type { Sale } from '../../sales/model.ts'
import { plansFromStored, plansToStored, type Place, type Plan } from '../../passes/model.ts'
import type { Checkout, Payment } from '../model.ts'
import { holdOf } from './capture.ts'
import { isLate } from '../model.ts'

/** What a sale stores of the plan that it buys: as it was when it was bought. */
export function planDetails(plan: Plan | null): Readonly<Record<string, unknown>> {
  return plan === null ? {} : { plan: plansToStored([plan])[0] }
}

export function planIn({ details }: Pick<Sale, 'details'>): Plan | null {
  const { plan } = details
  return plan === undefined ? null : (plansFromStored([plan as Plan<string>])[0] ?? null)
}

/** Where a right to a run is used. */
export function placeOf(checkout: Checkout, url: string): Place {
  const { id: checkoutId, network, testMode, trialRuns, trialsPerDay } = checkout
  return { checkoutId, network, testMode, trialRuns, trialsPerDay, url }
}

/** For what no chain moves nothing waits in the escrow: as with `onSuccess`, its work decides whether it is charged. */
export function ledgerHoldOf({ capture, responseMode }: Pick<Checkout, 'capture' | 'responseMode'>) {
  return holdOf({ capture: isLate(capture) ? 'onSuccess' : capture, responseMode })
}

/** The address that the customer entered in the form: reminders go there. */
export function emailIn({ fields }: Pick<Checkout, 'fields'>, input: Payment['input']): string | null {
  const field = fields.find(({ type }) => type === 'email')
  const value = field === undefined ? null : input[field.name]
  return typeof value === 'string' && value !== '' ? value : null
}
