import type { Use } from '../chain/model.ts'
import { REORG_SECONDS } from '../chain/networks.ts'
import { isOver, type ChainVerifier } from '../methods/remote/deps.ts'
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
      const isPayment = ({ cancelled, transfer }: Use) => !cancelled && transfer?.to === to && transfer.value === value
      const chain = byNetwork.get(name)
      if (chain === undefined) return null
      try {
        const { used, block } = await chain.authorizationAt(from, nonce)
        const since = block.number > LOOK_BACK ? block.number - LOOK_BACK : 0n
        if (!used && !isOver(authorization, block.timestamp)) return { state: 'unused' }
        const use = used ? await chain.findUse(from, nonce, since) : null
        if (use !== null && isPayment(use)) return { state: 'used', txHash: use.hash }
        // Nothing is given up before the nodes agree, each at a block of its own.
        const past = used ? validBefore : validBefore + REORG_SECONDS
        const agreed = await chain.agreedUse({ payer: from, nonce, from: since, past })
        if (!agreed.known) return null
        if (!agreed.used) return used ? null : { state: 'over' }
        if (agreed.use === null) return null
        return isPayment(agreed.use) ? { state: 'used', txHash: agreed.use.hash } : { state: 'spent' }
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unavailable') return null
        throw error
      }
    },
  }
}

/** Half a day of blocks: an authorization is used within minutes after it is presented. */
const LOOK_BACK = 21_600n
