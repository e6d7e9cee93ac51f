import { Batch } from '../../kit/batch.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Act, ActOutcome, Hold } from '../../ledger/model.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { AgentReserve } from '../model.ts'
import type { TakenAgent } from '../ports.ts'
import type { Asked } from './book.ts'
import { Memory } from './memory.ts'
import { openSession, WroteTooEarly, type Session, type SessionParts } from './session.ts'

/**
 * The way to the ledger for whoever may be an agent. Decision and lock are one transaction, so that no number of
 * processes or repetitions passes a limit; what no agent asks for goes straight through.
 */
export function createGuard(parts: GuardParts) {
  const { ledger, clock } = parts

  const memory = new Memory()

  async function actTogether<T>(acts: readonly AgentAct[], also: Also<T>): Promise<T> {
    const asked = new Map(acts.flatMap((act): [Act, Asked][] => (isAsked(act) ? [[act, askedOf(act)]] : [])))
    if (asked.size === 0) return await ledger.actTogether(acts, also)
    const remembered = memory.lend(new Set([...asked.values()].map(({ spender }) => spender.agentId)))
    try {
      return await decideTogether(acts, asked, also, remembered)
    } catch (error) {
      if (!(error instanceof WroteTooEarly)) throw error
    }
    return await decideTogether(acts, asked, also, null)
  }

  async function decideTogether<T>(
    acts: readonly AgentAct[],
    asked: ReadonlyMap<Act, Asked>,
    also: Also<T>,
    remembered: ReadonlyMap<string, TakenAgent> | null,
  ): Promise<T> {
    let left = remembered
    let session: (Session & { of: readonly Act[] }) | null = null
    const deciding = ledger.actTogether(
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
        // The ledger may begin anew: whatever the time before it had judged is undone, and what it went by is doubted.
        session = null
        const trusted = left
        left = null
        const of = sound.filter((act) => asked.has(act))
        if (of.length === 0) return sound.map(() => null)
        const asks = of.map((act) => given(asked.get(act)))
        const opened = await openSession(parts, inside, asks, clock.now(), trusted)
        session = { of, ...opened }
        const verdicts = new Map(of.map((act, place) => [act, opened.outcomes[place] ?? null]))
        return sound.map((act) => verdicts.get(act) ?? null)
      },
    )
    try {
      const done = await deciding
      // Only now: what was not committed is nothing to remember.
      opened()?.remember(memory)
      return done
    } catch (error) {
      // The ledger is told by the server only that something before it went wrong.
      throw (await opened()?.wroteTooEarly()) === true ? new WroteTooEarly() : error
    }

    function opened(): Session | null {
      return session
    }
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
