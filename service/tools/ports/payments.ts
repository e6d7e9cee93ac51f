import type { Hex } from '../../chain/model.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { CallId, Output } from '../model/call.ts'
import type { ToolPayment } from '../model/payment.ts'

/** Calls that are paid for one by one. Whoever is at one has it for a time; after that it is anybody's. */
export interface ToolPaymentStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** False where the authorization, or the id, is there already. */
  add(inside: Statements, payment: ToolPayment, leasedUntil: Date): Promise<boolean>
  findByDigest(digest: Hex): Promise<ToolPayment | null>
  find(id: CallId): Promise<ToolPayment | null>
  /** To go on with it, where nobody is still at it; null when somebody is, or nothing is left to do. */
  take(id: CallId, now: Date, until: Date): Promise<ToolPayment | null>
  /** From here on its money moves before the tool is asked. False where its call has got further already. */
  owe(id: CallId): Promise<boolean>
  /** The chain is about to be asked: the signature proves nothing from then on. */
  submitted(id: CallId): Promise<void>
  answered(id: CallId, output: Output, durationMs: number, until: Date): Promise<boolean>
  paid(inside: Statements, id: CallId, txHash: string, now: Date): Promise<boolean>
  failed(id: CallId, reason: string): Promise<void>
  /** The answer to what was paid for first. False where another one was faster. */
  fulfilled(inside: Statements, id: CallId, output: Output, durationMs: number, now: Date): Promise<boolean>
  /** Nobody is at it any more; whoever presents it again goes on with it. */
  leave(id: CallId, now: Date): Promise<void>
  /** The answer is out; it is not given again. */
  given(id: CallId): Promise<void>
  /** Those that nobody is at, as taken for whoever asks. */
  takeOpen(now: Date, until: Date, limit: number): Promise<readonly ToolPayment[]>
  forgetAnswers(before: Date): Promise<void>
}

export type PayCheckpoint = (state: 'claimed' | 'answered' | 'settled') => Promise<void> | void
