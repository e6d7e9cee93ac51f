import { createHash } from 'node:crypto'
import { NETWORKS } from '../chain/networks.ts'
import { proofExpired } from './errors.ts'
import { runsLeftOf, type Pass, type PassEventData, type Place, type Plan, type WalletProof } from './model.ts'

const DAY_MS = 86_400_000

/** How long before its end a pass is announced to end. */
const REMINDED_MS = 3 * DAY_MS

/** The run that the purchase itself was: its form is filled in already. */
const FIRST_RUN = 1

/**
 * What a pass holds once its plan is paid. `before`: a pass of the same holder, plan and bounds, which is extended.
 */
export function granted(plan: Plan, before: Holding | null, now: Date): Holding {
  const { used, until, runs } = before ?? { used: 0, until: null, runs: null }
  return {
    used: used + FIRST_RUN,
    runs: plan.runs === null ? null : (runs ?? 0) + plan.runs,
    until: plan.kind === 'period' ? new Date(later(until, now).getTime() + plan.days * DAY_MS) : null,
  }
}

/**
 * A seller may sell another kind of plan under the same id. A pass of other bounds is not extended by it: runs without an
 * end would get one, or a number of runs would become as many as are wanted.
 */
export function boundsOf(plan: Plan): Bounds {
  return { endsInTime: plan.kind === 'period', countsRuns: plan.runs !== null }
}

export interface Bounds {
  endsInTime: boolean
  countsRuns: boolean
}

export type Holding = Pick<Pass, 'runs' | 'used' | 'until'>

function later(one: Date | null, other: Date): Date {
  return one !== null && one > other ? one : other
}

/** When its end is announced; null where there is no end, or it is so near that buyers know of it. */
export function remindAtOf(until: Date | null, now: Date): Date | null {
  if (until === null) return null
  const at = new Date(until.getTime() - REMINDED_MS)
  return at > now ? at : null
}

/** A wallet signs for one run of one input, for a short time. */
const PROOF_MS_MAX = 600_000

export function assertFresh({ expiresAt }: Pick<WalletProof, 'expiresAt'>, now: Date): void {
  const ahead = expiresAt.getTime() - now.getTime()
  if (!(ahead > 0 && ahead <= PROOF_MS_MAX)) throw proofExpired()
}

/** It makes no run any more, and for a day the run that it made can be read. */
export function isPast({ expiresAt }: Pick<WalletProof, 'expiresAt'>, now: Date): boolean {
  const agoMs = now.getTime() - expiresAt.getTime()
  return agoMs >= 0 && agoMs < DAY_MS
}

/** No id of a sale that was made with this proof is older. */
export function earliestUse({ expiresAt }: Pick<WalletProof, 'expiresAt'>): Date {
  return new Date(expiresAt.getTime() - PROOF_MS_MAX)
}

/** The text that a wallet signs to use its pass or its trial. The page of the checkout writes the same. */
export function proofText({ checkoutId, network, url }: Place, inputHash: Buffer, expiresAt: Date): string {
  return [
    `${new URL(url).host} asks you to sign for a run that you do not pay for.`,
    '',
    `URI: ${url}`,
    `Checkout: ${checkoutId}`,
    `Chain ID: ${String(NETWORKS[network].chainId)}`,
    `Input: 0x${inputHash.toString('hex')}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n')
}

/** The UTC day, as trials are counted. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}

export function nextDay(now: Date): Date {
  return new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS)
}

export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function eventDataOf(
  pass: Pick<Pass, 'id' | 'checkoutId' | 'planId' | 'planName' | 'holder' | 'simulated' | 'runs' | 'used' | 'until'>,
  now: Date,
): PassEventData {
  return {
    passId: pass.id,
    checkoutId: pass.checkoutId,
    plan: { id: pass.planId, name: pass.planName },
    customerId: pass.holder,
    runs: pass.runs,
    runsLeft: runsLeftOf(pass),
    until: pass.until?.toISOString() ?? null,
    ...(pass.simulated ? { test: true } : {}),
    at: now.toISOString(),
  }
}
