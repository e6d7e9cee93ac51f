import { SIMULATED_SETTLING_MS, type Sale } from './model.ts'

/** How long an answer is stored, and how long the price in a 402 is valid. */
export const HELD_MS = 600_000

/** The chain may have been asked, so the authorization is public. */
export function isSubmitted({ state }: Pick<Sale, 'state'>): boolean {
  return state !== 'claimed' && state !== 'released' && state !== 'held'
}

/** The sale cannot change any more. */
export function isOver({ state }: Pick<Sale, 'state'>): boolean {
  return state === 'paid' || state === 'failed' || state === 'refunded'
}

/** The next time to ask the chain, or for the outcome of the work, about a waiting sale. */
export function nextResume(createdAt: Date, now: Date): Date {
  return new Date(now.getTime() + Math.min(Math.max((now.getTime() - createdAt.getTime()) / 4, 5_000), 60_000))
}

/** The state at this time of a simulated payment that takes its time. */
export function simulatedState(createdAt: Date, now: Date): 'claimed' | 'settling' | 'paid' {
  const age = now.getTime() - createdAt.getTime()
  if (age < SIMULATED_SETTLING_MS) return 'claimed'
  return age < SIMULATED_PAID_MS ? 'settling' : 'paid'
}

const SIMULATED_PAID_MS = 4_000
