import { Batch } from '../../../kit/batch.ts'
import type { Act, ActOutcome, Balances } from '../../../ledger/model.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { Ledger } from '../../../ledger/service.ts'
import type { CallStore, EndedCall } from '../../ports/calls.ts'

/**
 * Calls that end at the same moment travel together: their charges and their rows are one short transaction, flushed
 * once. Whoever comes while it is under way is in the next. Their beginnings are apart: a lock is one statement that
 * need not wait for the disk, and would only wait for the others here.
 */
export function createFlights({ ledger, store }: FlightDeps) {
  const ends = new Batch<Ask, Answer>({ largest: LARGEST, run: fly })
  // After the transaction rather than in it: meanwhile it would hold the wallets for a round trip more.
  const looks = new Batch<Owner, Balances>({
    largest: LARGEST,
    run: (owners) => ledger.balances(owners),
  })

  function fly(asks: readonly Ask[]): Promise<Answer[]> {
    const acts = asks.map(({ act }) => act)
    return ledger.actTogether(acts, async (inside, outcomes) => {
      const judged = asks.map((ask, place) => judge(ask, outcomes[place]))
      const ended = asks.filter((_, place) => judged[place] === 'ended').map(({ call }) => call)
      if (ended.length > 0) await store.write(inside, ended)
      return judged
    })
  }

  async function end(ask: Ask): Promise<void> {
    for (;;) {
      const answer = await ends.add(ask)
      if (answer === 'ended') return
      if ('refusal' in answer) throw answer.refusal
    }
  }

  return {
    /** Takes the money and writes the call down; answers what its payer has left. */
    async charge(act: Capturing, call: EndedCall): Promise<Balances> {
      await end({ act, call })
      return await looks.add(act.capture.owner)
    },
    /** Gives the money back, where it has not gone back by itself, and writes the failure down. */
    giveBack: (act: Releasing, call: EndedCall): Promise<void> => end({ act, call }),
  }
}

export type Flights = ReturnType<typeof createFlights>

export interface FlightDeps {
  ledger: Pick<Ledger, 'actTogether' | 'balances'>
  store: Pick<CallStore, 'write'>
}

type Capturing = Extract<Act, { capture: unknown }>
type Releasing = Extract<Act, { release: unknown }>

interface Ask {
  act: Capturing | Releasing
  call: EndedCall
}

type Answer = 'ended' | { refusal: Error } | { askAgain: true }

function judge({ act }: Ask, outcome: ActOutcome | undefined): Answer {
  if (outcome === undefined) throw new Error('an act was left without an outcome')
  if ('askAgain' in outcome) return outcome
  // A lock that the sweeper has ended needs no giving back.
  return 'refusal' in outcome && 'capture' in act ? outcome : 'ended'
}

const LARGEST = 256
