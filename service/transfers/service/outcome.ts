import type { Chain, Use } from '../../chain/model.ts'
import { blockBeforeSigning, givenUpAfter, isConfirmed } from '../../chain/networks.ts'
import type { Outcome, Signed } from '../model.ts'

/** Asks the chain what became of an authorization that was signed here, or for a payment of ours. */
export async function outcomeOf(chain: TransferChain, signed: Signed, confirmations: number): Promise<Outcome> {
  const { from: payer, nonce, validBefore } = signed
  const { used, block } = await chain.authorizationAt(payer, nonce)
  const from = signed.seenBlock ?? blockBeforeSigning(block, validBefore)
  if (!used) {
    if (block.timestamp < validBefore) return { state: 'open' }
    const past = givenUpAfter(validBefore)
    if (block.timestamp <= past) return { state: 'ending' }
    const agreed = await chain.agreedUse({ payer, nonce, from, past })
    return { state: agreed.known && !agreed.used ? 'over' : 'unclear' }
  }
  const use = await chain.findUse(payer, nonce, from)
  // The node that has the event lags behind the node that has the state.
  if (use === null) return { state: 'unclear' }
  const final = isConfirmed(use.blockNumber, block.number, confirmations)
  if (isPaidBy(use, signed)) return { state: 'used', use, final }
  if (!final) return { state: 'unclear' }
  const agreed = await chain.agreedUse({ payer, nonce, from, past: validBefore })
  return agreed.known && agreed.use?.hash === use.hash ? { state: 'spent', use } : { state: 'unclear' }
}

/** Whether this use of the nonce moved exactly what was signed for. */
function isPaidBy({ cancelled, transfer }: Use, { from, pays }: Signed): boolean {
  if (cancelled || pays === null) return !cancelled
  return transfer?.from === from && transfer.to === pays.to && transfer.value === pays.value
}

export type TransferChain = Pick<Chain, 'authorizationAt' | 'findUse' | 'agreedUse'>
