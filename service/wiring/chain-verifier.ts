import type { ChainVerifier } from '../methods/remote/deps.ts'
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

    async look({ name }, { from, to, value, nonce }) {
      const chain = byNetwork.get(name)
      if (chain === undefined) return null
      try {
        const { used, block } = await chain.authorizationAt(from, nonce)
        if (!used) return { state: 'unused', chainTime: new Date(Number(block.timestamp) * 1000) }
        const since = block.number > LOOK_BACK ? block.number - LOOK_BACK : 0n
        const use = await chain.findUse(from, nonce, since)
        if (use === null) return null
        const { cancelled, transfer, hash } = use
        const ours = !cancelled && transfer?.to === to && transfer.value === value
        return ours ? { state: 'used', txHash: hash } : { state: 'spent' }
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unavailable') return null
        throw error
      }
    },
  }
}

/** Half a day of blocks: an authorization is used within minutes after it is presented. */
const LOOK_BACK = 21_600n
