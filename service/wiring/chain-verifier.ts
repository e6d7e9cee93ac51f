import type { ChainVerifier } from '../methods/remote/deps.ts'
import { outcomeOf } from '../transfers/service/outcome.ts'
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
      try {
        const signed = { from, nonce, validBefore, pays: { to, value }, seenBlock: null }
        const outcome = await outcomeOf(chain, signed, CONFIRMATIONS)
        switch (outcome.state) {
          case 'used':
            return { state: 'used', txHash: outcome.use.hash }
          case 'open':
          case 'ending':
            return { state: 'unused' }
          case 'unclear':
            return null
          default:
            return { state: outcome.state }
        }
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unavailable') return null
        throw error
      }
    },
  }
}

/** A block is enough: whoever settled it answers for what comes after. */
const CONFIRMATIONS = 1
