import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import { invalid } from '../kit/errors.ts'
import { usdc, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'

/** What buyers can pay for ahead: a number of runs, or a period. */
export type Plan<Amount = Usdc> = RunsPlan<Amount> | PeriodPlan<Amount>

interface RunsPlan<Amount> {
  id: string
  name: string
  price: Amount
  kind: 'runs'
  runs: number
}

interface PeriodPlan<Amount> {
  id: string
  name: string
  price: Amount
  kind: 'period'
  days: number
  /** The most runs in the period. Null: as many as are wanted. */
  runs: number | null
}

/** Runs that a customer has paid for ahead, at one checkout. */
export interface Pass {
  id: Id<'pas'>
  checkoutId: string
  owner: Owner
  planId: string
  planName: string
  /** The wallet that paid. The zero address where none is known. */
  holder: Address
  /** Bought in test mode, and good for nothing else. */
  simulated: boolean
  /** Where it was paid, and good for nothing else: what test money bought is worth nothing where real money is paid. */
  network: NetworkName
  tokenHash: Buffer
  /** Null where only the time is limited. */
  runs: number | null
  used: number
  /** Null where only the runs are limited. */
  until: Date | null
  /** When its end is announced. Null afterwards, and where it is not. */
  remindAt: Date | null
  /** The address that the customer entered in the form. */
  email: string | null
  endedAt: Date | null
  endReason: PassEnd | null
  createdAt: Date
}

export const PASS_ENDS = ['owner', 'time', 'refunded'] as const
export type PassEnd = (typeof PASS_ENDS)[number]

/** `used_up`: all runs are used. Buying its plan again adds more, and a run whose work fails comes back. */
export const PASS_STATUSES = ['active', 'used_up', 'ended'] as const
export type PassStatus = (typeof PASS_STATUSES)[number]

/** Which of an owner's passes to list. Null selects all. */
export interface PassFilter {
  checkoutId: string | null
  holder: Address | null
  /** The e-mail address or the wallet with which they were paid for, in lower case. */
  customer: string | null
}

/** The checkout that a run is wanted at. */
export interface Place {
  checkoutId: string
  network: NetworkName
  testMode: boolean
  trialRuns: number
  trialsPerDay: number
  /** The address of its page. */
  url: string
}

/** How a customer shows a right to a run: a pass's secret token, or a fresh signature of a wallet. */
export type Claim = { pass: string } | { proof: WalletProof }

export interface WalletProof {
  address: Address
  expiresAt: Date
  signature: `0x${string}`
}

export const PASS_TOKEN = /^pst_[A-Za-z0-9_-]{43}$/

/** The data of `pass.created`, `pass.ending` and `pass.ended`. */
export interface PassEventData {
  passId: string
  checkoutId: string
  plan: { id: string; name: string }
  /** The wallet that paid. */
  customerId: string
  runs: number | null
  runsLeft: number | null
  until: string | null
  /** With `pass.created`: the same holder had it already, and paid for more. */
  renewed?: boolean
  /** With `pass.ended`. */
  reason?: PassEnd
  test?: true
  at: string
}

export function statusOf({ endedAt, until, runs, used }: Standing, now: Date): PassStatus {
  if (endedAt !== null || (until !== null && until <= now)) return 'ended'
  return runs !== null && used >= runs ? 'used_up' : 'active'
}

type Standing = Pick<Pass, 'endedAt' | 'until' | 'runs' | 'used'>

export function runsLeftOf({ runs, used }: Pick<Pass, 'runs' | 'used'>): number | null {
  return runs === null ? null : runs - used
}

/** Checks plans beyond what the schema can express. */
export function assertPlans(plans: readonly Plan[]): void {
  const ids = plans.map(({ id }) => id)
  const twice = ids.findIndex((id, at) => ids.indexOf(id) !== at)
  if (twice !== -1) throw invalid({ [`plans.${String(twice)}.id`]: 'must differ from the ids of the other plans' })
}

/** The same plan with its price in another form: a decimal where it is shown, a text where it is stored. */
export function planWith<From, To>(plan: Plan<From>, to: (amount: From) => To): Plan<To> {
  const { id, name } = plan
  const price = to(plan.price)
  if (plan.kind === 'runs') return { id, name, price, kind: plan.kind, runs: plan.runs }
  return { id, name, price, kind: plan.kind, days: plan.days, runs: plan.runs }
}

export function plansFromStored(stored: readonly Plan<string>[]): Plan[] {
  return stored.map((plan) => planWith(plan, (text): Usdc => usdc(BigInt(text))))
}

export function plansToStored(plans: readonly Plan[]): Plan<string>[] {
  return plans.map((plan) => planWith(plan, String))
}
