import { Batch } from '../../../kit/batch.ts'
import type { Act, ActOutcome, Balances } from '../../../ledger/model.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { EndedCall } from '../../ports/calls.ts'
import type { CallDeps } from './order.ts'

/**
 * Calls that end at the same moment are written together: their charges and rows are one short transaction with one
 * disk flush. Calls that end meanwhile go into the next one. Holds are not batched: each is one statement that need not
 * wait for the disk, and in a batch it would wait for the others.
 */
export function createChargeBatch({ ledger, store }: Pick<CallDeps, 'ledger' | 'store'>) {
  const endings = new Batch<Ending, EndingResult>({ largest: LARGEST, run: flush })
  // Read after the transaction, because inside it the wallets would stay locked for one more round trip.
  const balances = new Batch({ largest: LARGEST, run: (owners: readonly Owner[]) => ledger.balances(owners) })

  function flush(batch: readonly Ending[]): Promise<EndingResult[]> {
    const acts = batch.map(({ act }) => act)
    return ledger.actTogether(acts, async (inside, outcomes) => {
      const results = batch.map((ending, place) => resultOf(ending, outcomes[place]))
      const ended = batch.filter((_, place) => results[place] === 'ended').map(({ call }) => call)
      if (ended.length > 0) await store.write(inside, ended)
      return results
    })
  }

  async function end(ending: Ending): Promise<void> {
    for (;;) {
      const result = await endings.add(ending)
      if (result === 'ended') return
      if ('refusal' in result) throw result.refusal
    }
  }

  return {
    /** Takes the money and stores the call. Returns the payer's remaining money. */
    async charge(act: Capturing, call: EndedCall): Promise<Balances> {
      await end({ act, call })
      return await balances.add(act.capture.owner)
    },
    /** Gives the money back, unless the sweeper did so already, and stores the failure. */
    giveBack: (act: Releasing, call: EndedCall): Promise<void> => end({ act, call }),
  }
}

export type ChargeBatch = ReturnType<typeof createChargeBatch>

type Capturing = Extract<Act, { capture: unknown }>
type Releasing = Extract<Act, { release: unknown }>

interface Ending {
  act: Capturing | Releasing
  call: EndedCall
}

type EndingResult = 'ended' | { refusal: Error } | { askAgain: true }

function resultOf({ act }: Ending, outcome: ActOutcome | undefined): EndingResult {
  if (outcome === undefined) throw new Error('an operation ended without an outcome')
  if ('askAgain' in outcome) return outcome
  // When the sweeper has ended a hold, its money was already given back.
  return 'refusal' in outcome && 'capture' in act ? outcome : 'ended'
}

const LARGEST = 256
