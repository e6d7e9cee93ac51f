import { Batch } from '../../kit/batch.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Act, ActOutcome, Hold } from '../../ledger/model.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { AgentReserve } from '../model.ts'
import type { Asked } from './book.ts'
import { openSession, type SessionParts } from './session.ts'

/**
 * The way to the ledger for whoever may be an agent. Decision and lock are one transaction, so that no number of
 * processes or repetitions passes a limit; what no agent asks for goes straight through.
 */
export function createGuard(parts: GuardParts) {
  const { ledger, clock } = parts

  async function actTogether<T>(acts: readonly AgentAct[], also: Also<T>): Promise<T> {
    const asked = new Map(acts.flatMap((act): [Act, Asked][] => (isAsked(act) ? [[act, askedOf(act)]] : [])))
    if (asked.size === 0) return await ledger.actTogether(acts, also)
    let session: { of: readonly Act[]; close(outcomes: readonly ActOutcome[]): Promise<readonly ActOutcome[]> } | null =
      null
    return await ledger.actTogether(
      acts,
      async (inside, outcomes) => {
        if (session === null) return await also(inside, outcomes)
        const { of } = session
        const byAct = new Map<Act, ActOutcome | undefined>(acts.map((act, place) => [act, outcomes[place]]))
        const closed = await session.close(of.map((act) => given(byAct.get(act))))
        of.forEach((act, place) => byAct.set(act, closed[place]))
        return await also(
          inside,
          acts.map((act) => given(byAct.get(act))),
        )
      },
      async (inside, sound) => {
        // The ledger may begin anew: whatever the time before it had judged is undone.
        session = null
        const of = sound.filter((act) => asked.has(act))
        if (of.length === 0) return sound.map(() => null)
        const opened = await openSession(
          parts,
          inside,
          of.map((act) => given(asked.get(act))),
          clock.now(),
        )
        session = { of, close: opened.close }
        const verdicts = new Map(of.map((act, place) => [act, opened.outcomes[place] ?? null]))
        return sound.map((act) => verdicts.get(act) ?? null)
      },
    )
  }

  const batch = new Batch<AgentReserve, ActOutcome>({
    lanes: 1,
    largest: LARGEST,
    laneOf: () => 0,
    run: (reserves) =>
      actTogether(
        reserves.map((reserve) => ({ reserve })),
        (_, outcomes) => Promise.resolve(outcomes),
      ),
  })

  return {
    /** As the ledger's, for locks that agents ask for among others. */
    actTogether,

    /** Sets money aside, or throws why not: `spending_limit`, `approval_required`, or the ledger's reason. */
    async reserve(command: AgentReserve): Promise<Hold> {
      if (command.spender == null) return await ledger.reserve(command)
      for (;;) {
        const outcome = await batch.add(command)
        if ('hold' in outcome) return outcome.hold
        if ('refusal' in outcome) throw outcome.refusal
      }
    },
  }
}

export type Guard = ReturnType<typeof createGuard>

export interface GuardParts extends SessionParts {
  ledger: Ledger
  clock: Clock
}

/** What is written with the money; may be called again when two processes collided. */
export type Also<T> = (inside: Statements, outcomes: readonly ActOutcome[]) => Promise<T>

/** What the ledger does, and a lock that may be an agent's. */
export type AgentAct = { reserve: AgentReserve } | Exclude<Act, { reserve: unknown }>

function isAsked(act: AgentAct): act is { reserve: AgentReserve } {
  return 'reserve' in act && act.reserve.spender != null
}

function askedOf({ reserve }: { reserve: AgentReserve }): Asked {
  return { reserve, spender: given(reserve.spender) }
}

function given<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('an act was left without an outcome')
  return value
}

const LARGEST = 256
