import { Batch } from '../../../kit/batch.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Act, ActOutcome } from '../../../ledger/model.ts'
import type { AgentAct, Guard } from '../../../budgets/service/guard.ts'
import { FAILURES } from '../../errors/run.ts'
import type { EndedRun, NewRun, RunStore } from '../../ports/run.ts'
import { unpaid } from '../../rules/run.ts'

/**
 * Runs that begin and end at the same moment travel together: their locks, their charges and their rows are one
 * short transaction, flushed once. Whoever comes while it is under way is in the next.
 */
export function createFlights({ locks, store, also }: FlightDeps) {
  const batch = new Batch<Ask, Answer>({ largest: LARGEST, run: fly })

  function fly(asks: readonly Ask[]): Promise<Answer[]> {
    const acts = asks.map(({ act }) => act)
    return locks.actTogether(acts, async (inside, outcomes) => {
      const judged = asks.map((ask, place) => judge(ask, outcomes[place]))
      const begun = judged.flatMap((one) => ('begin' in one ? [one.begin] : []))
      const ended = judged.flatMap((one) => ('end' in one ? [one.end] : []))
      const written = await store.write(inside, begun, ended)
      await also(
        inside,
        begun.filter(({ id }) => written.has(id)),
        ended.filter(({ id }) => written.has(id)),
      )
      return judged.map((one): Answer => {
        if ('begin' in one) return { written: written.has(one.begin.id), state: one.begin.state }
        if ('end' in one) return { written: written.has(one.end.id), state: one.end.state }
        return one
      })
    })
  }

  async function add(ask: Ask): Promise<Written> {
    for (;;) {
      const answer = await batch.add(ask)
      if ('refusal' in answer) throw answer.refusal
      if ('written' in answer) return answer
    }
  }

  return {
    /** The lock and the row; or throws why there is no lock. Not written: it was there before. */
    begin: (act: AgentAct, run: NewRun) => add({ act, begin: run }),
    /** The charge, or the money back, and the row's end. Not written: somebody else had ended it. */
    end: (act: Act, run: EndedRun) => add({ act, end: run }),
  }
}

export type Flights = ReturnType<typeof createFlights>

export interface FlightDeps {
  /** An agent's lock is taken within its limits. */
  locks: Pick<Guard, 'actTogether'>
  store: RunStore
  /** What follows from these rows, written in their transaction. */
  also(inside: Statements, begun: readonly NewRun[], ended: readonly EndedRun[]): Promise<void>
}

type Ask = { act: AgentAct; begin: NewRun } | { act: Act; end: EndedRun }

/** What its row came to say; whether this flight said it. */
export interface Written {
  written: boolean
  state: NewRun['state']
}

type Answer = Written | { refusal: Error } | { askAgain: true }
type Judged = { begin: NewRun } | { end: EndedRun } | { refusal: Error } | { askAgain: true }

function judge(ask: Ask, outcome: ActOutcome | undefined): Judged {
  if (outcome === undefined) throw new Error('an act was left without an outcome')
  if ('askAgain' in outcome) return outcome
  if (!('refusal' in outcome)) return 'begin' in ask ? { begin: ask.begin } : { end: ask.end }
  if ('begin' in ask || !isOver(outcome.refusal)) return outcome
  // The lock ended before this: nothing is charged and nothing goes out. A row that is still open says so; one that
  // whoever ended the lock has written already stays as it is.
  const { state, durationMs, counts, ...end } = ask.end
  if (state !== 'succeeded') return { end: ask.end }
  return { end: { ...end, ...unpaid('failed', FAILURES.late, durationMs, counts) } }
}

function isOver(refusal: Error): boolean {
  return refusal instanceof DomainError && refusal.code === 'lock_ended'
}

const LARGEST = 256
