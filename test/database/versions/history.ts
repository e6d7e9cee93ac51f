import { ago, ENDED, id, USER, CREATOR, HASH, RUN, LOST_RUN, type Row } from './names.ts'

/** One account's part of a movement. */
export interface Leg {
  readonly owner: string
  readonly kind: string
  readonly side: 'payer' | 'receiver'
  readonly available: number
  readonly locked?: number
}

const leg = (owner: string, kind: string, available: number, locked = 0): Leg => ({
  ...{ owner, kind, available, locked },
  side: available + locked < 0 || (available < 0 && locked > 0) ? 'payer' : 'receiver',
})

/** The history of the old account: credits, a deposit, a run that was paid, and one whose process ended. */
export const MOVEMENTS: readonly { id: string; kind: string; legs: readonly Leg[] }[] = [
  {
    ...{ id: `grant.${USER}.sandbox`, kind: 'grant' },
    legs: [leg('platform', 'grants', -5_000_000), leg(USER, 'credits', 5_000_000)],
  },
  {
    ...{ id: id('dep', 'aged'), kind: 'deposit' },
    legs: [leg('platform', 'treasury', -25_000_000), leg(USER, 'wallet', 25_000_000)],
  },
  { id: `${RUN}.reserve`, kind: 'reserve', legs: [leg(USER, 'wallet', -20_000, 20_000)] },
  {
    ...{ id: `${RUN}.end`, kind: 'capture' },
    legs: [leg(USER, 'wallet', 0, -20_000), leg(CREATOR, 'wallet', 16_000), leg('platform', 'revenue', 4_000)],
  },
  { id: `${LOST_RUN}.reserve`, kind: 'reserve', legs: [leg(USER, 'wallet', -30_000, 30_000)] },
]

export const HOLDS: readonly Row[] = [
  { id: RUN, amount: 20_000, captured: 20_000, state: 'captured', end_hash: HASH, deadline: ENDED },
  { id: LOST_RUN, amount: 30_000, state: 'open', deadline: ago(5) },
]
