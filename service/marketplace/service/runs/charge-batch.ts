import { Batch } from '../../../kit/batch.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Act, ActOutcome } from '../../../ledger/model.ts'
import type { AgentAct } from '../../../budgets/service/guard.ts'
import { FAILURES } from '../../errors.ts'
import type { Run } from '../../model/run.ts'
import type { EndedRun, NewRun } from '../../ports/run.ts'
import { purchaseOf, unpaid } from '../../rules/run.ts'
import type { RunsDeps } from './deps.ts'

/**
 * Runs that begin and end at the same moment share a batch: their holds, their charges and their rows are one short
 * transaction, flushed once. What comes while it is under way is in the next one. A run that counts as money that
 * leaves has a transaction of its own: the counter's refusal undoes all that is in it.
 */
export function createChargeBatch({ guard, store, outflow, onWritten }: ChargeBatchDeps) {
  const batch = new Batch<Charge, Result>({ largest: LARGEST, run: flush })

  function flush(charges: readonly Charge[]): Promise<Result[]> {
    const acts = charges.map(({ act }) => act)
    return guard.actTogether(acts, async (inside, outcomes) => {
      const decided = charges.map((charge, place) => decide(charge, outcomes[place]))
      const begun = decided.flatMap((one) => ('begin' in one ? [one.begin] : []))
      const ended = decided.flatMap((one) => ('end' in one ? [one.end] : []))
      const written = await store.write(inside, begun, ended)
      const isWritten = ({ id }: NewRun | EndedRun): boolean => written.has(id)
      await onWritten(inside, begun.filter(isWritten), ended.filter(isWritten))
      // Last: from here on no other account is locked.
      for (const run of begun.filter((one) => isWritten(one) && isCounted(one))) await take(inside, run)
      for (const { id, cost } of ended.filter((one) => isWritten(one) && isCounted(one.run))) {
        await outflow.giveBack(id, inside, cost)
      }
      return decided.map((one): Result => {
        if ('begin' in one) return { written: isWritten(one.begin), state: one.begin.state }
        if ('end' in one) return { written: isWritten(one.end), state: one.end.state }
        return one
      })
    })
  }

  async function add(charge: Charge): Promise<Written> {
    for (;;) {
      const result = isCounted(runOf(charge)) ? await alone(charge) : await batch.add(charge)
      if ('refusal' in result) throw result.refusal
      if ('written' in result) return result
    }
  }

  async function alone(charge: Charge): Promise<Result> {
    const [result] = await flush([charge])
    if (result === undefined) throw new Error('a run was charged without a result')
    return result
  }

  function isCounted(run: NewRun | Run): boolean {
    return outflow.countsPurchase(purchaseOf(run))
  }

  async function take(inside: Statements, run: NewRun): Promise<void> {
    const { id, payerId: userId, environment } = run
    await outflow.takePurchase({ id, buyer: { userId, environment }, amount: purchaseOf(run) }, inside)
  }

  return {
    /** The hold and the row; or throws why there is no hold. Not written: it was there before. */
    begin: (act: AgentAct, run: NewRun) => add({ act, begin: run }),
    /** The charge, or the release, and the row's end. Not written: it had ended already. */
    end: (act: Act, run: EndedRun) => add({ act, end: run }),
  }
}

export type ChargeBatch = ReturnType<typeof createChargeBatch>

interface ChargeBatchDeps extends Pick<RunsDeps, 'guard' | 'store' | 'outflow'> {
  /** What follows from these rows, written in their transaction. */
  onWritten(inside: Statements, begun: readonly NewRun[], ended: readonly EndedRun[]): Promise<void>
}

type Charge = { act: AgentAct; begin: NewRun } | { act: Act; end: EndedRun }
type Undone = { refusal: Error } | { askAgain: true }
type Result = Written | Undone
type Decision = { begin: NewRun } | { end: EndedRun } | Undone

/** The state of its row, and whether this batch wrote it. */
interface Written {
  written: boolean
  state: NewRun['state']
}

function runOf(charge: Charge): NewRun | Run {
  return 'begin' in charge ? charge.begin : charge.end.run
}

function decide(charge: Charge, outcome: ActOutcome | undefined): Decision {
  if (outcome === undefined) throw new Error('an operation ended without an outcome')
  if ('askAgain' in outcome) return outcome
  if (!('refusal' in outcome)) return 'begin' in charge ? { begin: charge.begin } : { end: charge.end }
  if ('begin' in charge || !isOver(outcome.refusal)) return outcome
  // The hold ended before this: nothing is charged and no output is given out. A row that is still open records that;
  // one that was written when the hold ended stays as it is.
  const { state, durationMs, counts, ...end } = charge.end
  if (state !== 'succeeded') return { end: charge.end }
  return { end: { ...end, ...unpaid('failed', FAILURES.late, durationMs, counts) } }
}

function isOver(refusal: Error): boolean {
  return refusal instanceof DomainError && refusal.code === 'lock_ended'
}

const LARGEST = 256
