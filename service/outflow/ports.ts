import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Left, Outflow } from './model.ts'

export interface OutflowStore {
  /** Until the transaction's end nothing else is counted in this environment. */
  lock(owner: Owner, inside: Statements): Promise<void>
  /** What has left since; `counted` says that this id is among it. */
  leftSince(owner: Owner, since: Date, inside?: Statements): Promise<Left>
  isCounted(id: string, inside: Statements): Promise<boolean>
  count(outflow: Outflow, now: Date, inside: Statements): Promise<void>
  /** False when it was not counted, or is given back already. */
  giveBack(id: string, now: Date, inside: Statements): Promise<boolean>
  isPaused(inside?: Statements): Promise<boolean>
  setPaused(paused: boolean, now: Date): Promise<void>
}
