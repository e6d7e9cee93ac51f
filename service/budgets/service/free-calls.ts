import { Batch } from '../../kit/batch.ts'
import type { Clock } from '../../kit/clock.ts'
import { ZERO } from '../../kit/money.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { ActOutcome } from '../../ledger/model.ts'
import type { FreeCall } from '../model.ts'
import type { Memory } from './memory.ts'
import { openSession, type SessionDeps } from './session.ts'

/** Judges and counts an agent's calls that cost nothing, or nothing yet: as holds of nothing, without the ledger. */
export function createFreeCalls(deps: FreeCallDeps, memory: Memory) {
  const { statements, clock } = deps

  async function countTogether(calls: readonly FreeCall[]): Promise<readonly ActOutcome[]> {
    const requests = calls.map(({ id, owner, spender }) => ({ reserve: { id, owner, amount: ZERO }, spender }))
    const { session, outcomes } = await statements.together(async (inside) => {
      const session = await openSession(deps, { inside, requests, now: clock.now() }, null)
      const judged = calls.map(({ id }, place): ActOutcome => {
        return session.outcomes[place] ?? { hold: { id, amount: ZERO, fromCredits: ZERO } }
      })
      return { session, outcomes: await session.close(judged) }
    })
    session.remember(memory)
    return outcomes
  }

  const counting = new Batch<FreeCall, ActOutcome>({ largest: LARGEST, run: countTogether })

  /** Throws `spending_limit` where the agent may not make it. */
  return async (call: FreeCall): Promise<void> => {
    for (;;) {
      const outcome = await counting.add(call)
      if ('hold' in outcome) return
      if ('refusal' in outcome) throw outcome.refusal
    }
  }
}

export interface FreeCallDeps extends SessionDeps {
  statements: StatementPool
  clock: Clock
}

const LARGEST = 256
