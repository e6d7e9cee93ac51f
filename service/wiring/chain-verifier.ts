import type { ChainEvidence, ChainVerifier } from '../methods/remote/deps.ts'
import { outcomeOf, type TransferChain } from '../transfers/service/outcome.ts'
import { DomainError } from '../kit/errors.ts'
import type { Chains } from './chains.ts'

/** Checks, by this server's own RPC, an authorization that an external facilitator settles; null without an RPC. */
export function chainVerifierOf({ byNetwork }: Chains): ChainVerifier | null {
  if (byNetwork.size === 0) return null
  return {
    reads: ({ name }) => byNetwork.has(name),

    async payerHasCode({ name }, authorization) {
      try {
        const simulations = await byNetwork.get(name)?.simulate([authorization])
        return simulations?.[0] === undefined ? null : simulations[0].payerCode !== 'none'
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unavailable') return null
        throw error
      }
    },

    async look({ name }, authorization) {
      const { from, to, value, nonce, validBefore } = authorization
      const chain = byNetwork.get(name)
      if (chain === undefined) return null
      const seen = { used: false }
      const unclear = (): ChainEvidence | null => (seen.used ? { state: 'taken' } : null)
      try {
        const signed = { from, nonce, validBefore, pays: { to, value }, seenBlock: null }
        const outcome = await outcomeOf(noting(chain, seen), signed, CONFIRMATIONS)
        switch (outcome.state) {
          case 'used':
            return { state: 'used', txHash: outcome.use.hash }
          case 'open':
          case 'ending':
            return { state: 'unused' }
          case 'unclear':
            return unclear()
          default:
            return { state: outcome.state }
        }
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unavailable') return unclear()
        throw error
      }
    },
  }
}

/** Notes whether the nonce is used, which is known before what it was used for, or without it. */
function noting(chain: TransferChain, seen: { used: boolean }): TransferChain {
  return {
    async authorizationAt(payer, nonce, block) {
      const state = await chain.authorizationAt(payer, nonce, block)
      seen.used = state.used
      return state
    },
    findUse: (payer, nonce, fromBlock) => chain.findUse(payer, nonce, fromBlock),
    agreedUse: (search) => chain.agreedUse(search),
  }
}

/** A block is enough: whoever settled it answers for what comes after. */
const CONFIRMATIONS = 1
