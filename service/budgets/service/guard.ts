import { Batch } from '../../kit/batch.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Act, ActOutcome, Hold } from '../../ledger/model.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { AgentReserve } from '../model.ts'
import type { TakenAgent } from '../ports.ts'
import type { HoldRequest } from './book.ts'
import { createFreeCalls, type FreeCallDeps } from './free-calls.ts'
import { Memory } from './memory.ts'
import { openSession, WroteTooEarly, type Session } from './session.ts'

/**
 * Access to the ledger for callers that may be agents. Decision and hold are one transaction, so that no number of
 * processes or repetitions exceeds a limit; acts that are not an agent's go straight to the ledger.
 */
export function createGuard(deps: GuardDeps) {
  const { ledger, clock } = deps

  const memory = new Memory()

  async function actTogether<T>(acts: readonly AgentAct[], also: Also<T>): Promise<T> {
    const requests = new Map(
      acts.flatMap((act): [Act, HoldRequest][] => (isForAgent(act) ? [[act, requestOf(act)]] : [])),
    )
    if (requests.size === 0) return await ledger.actTogether(acts, also)
    const remembered = memory.lend(new Set([...requests.values()].map(({ spender }) => spender.agentId)))
    try {
      return await decideTogether(acts, requests, also, remembered)
    } catch (error) {
      if (!(error instanceof WroteTooEarly)) throw error
    }
    return await decideTogether(acts, requests, also, null)
  }

  async function decideTogether<T>(
    acts: readonly AgentAct[],
    requests: ReadonlyMap<Act, HoldRequest>,
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
        const closed = await session.close(of.map((act) => required(byAct.get(act))))
        of.forEach((act, place) => byAct.set(act, closed[place]))
        return await also(
          inside,
          acts.map((act) => required(byAct.get(act))),
        )
      },
      async (inside, sound) => {
        // The ledger may retry: the previous attempt's decisions are undone, and the memory that they relied on is no
        // longer trusted.
        session = null
        const trusted = left
        left = null
        const of = sound.filter((act) => requests.has(act))
        if (of.length === 0) return sound.map(() => null)
        const batch = { inside, requests: of.map((act) => required(requests.get(act))), now: clock.now() }
        const opened = await openSession(deps, batch, trusted)
        session = { of, ...opened }
        const verdicts = new Map(of.map((act, place) => [act, opened.outcomes[place] ?? null]))
        return sound.map((act) => verdicts.get(act) ?? null)
      },
    )
    try {
      const done = await deciding
      // Only after the commit: uncommitted counters must not be remembered.
      opened()?.remember(memory)
      return done
    } catch (error) {
      // The database's error only says that an earlier statement failed.
      throw (await opened()?.wroteTooEarly()) === true ? new WroteTooEarly() : error
    }

    function opened(): Session | null {
      return session
    }
  }

  const reserves = new Batch<AgentReserve, ActOutcome>({
    largest: LARGEST,
    run: (commands) =>
      actTogether(
        commands.map((reserve) => ({ reserve })),
        (_, outcomes) => Promise.resolve(outcomes),
      ),
  })

  return {
    /** Like the ledger's `actTogether`, but some of the holds may be for agents. */
    actTogether,

    /** Creates a hold, or throws why not: `spending_limit`, `approval_required`, or the ledger's reason. */
    async reserve(command: AgentReserve): Promise<Hold> {
      if (command.spender == null) return await ledger.reserve(command)
      for (;;) {
        const outcome = await reserves.add(command)
        if ('hold' in outcome) return outcome.hold
        if ('refusal' in outcome) throw outcome.refusal
      }
    },

    countFree: createFreeCalls(deps, memory),
  }
}

export type Guard = ReturnType<typeof createGuard>

export interface GuardDeps extends FreeCallDeps {
  ledger: Ledger
}

/** Writes in the same transaction as the money; may be called again after a conflict between two processes. */
export type Also<T> = (inside: Statements, outcomes: readonly ActOutcome[]) => Promise<T>

/** A ledger act, or a hold that may be an agent's. */
export type AgentAct = { reserve: AgentReserve } | Exclude<Act, { reserve: unknown }>

function isForAgent(act: AgentAct): act is { reserve: AgentReserve } {
  return 'reserve' in act && act.reserve.spender != null
}

function requestOf({ reserve }: { reserve: AgentReserve }): HoldRequest {
  return { reserve, spender: required(reserve.spender) }
}

function required<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('an operation ended without an outcome')
  return value
}

const LARGEST = 256
