import type { Address, Chain } from '../../chain/model.ts'
import type { FacilitatorParts } from './parts.ts'

export interface SponsorGas {
  network: string
  sponsor: Address
  /** Null while the chain does not answer. */
  wei: bigint | null
  low: boolean
}

/** What the sponsors have left, asked for at most twice a minute however often it is read. */
export function createGasWatch(parts: FacilitatorParts): () => Promise<readonly SponsorGas[]> {
  let known: Promise<readonly SponsorGas[]> = Promise.resolve([])
  let readAt = 0

  async function read(chain: Chain, sponsor: Address): Promise<SponsorGas> {
    const network = chain.network.name
    try {
      const wei = await chain.nativeBalance(sponsor)
      const low = wei < parts.settings.lowBalance
      if (low) parts.log.warn({ network, sponsor, wei: String(wei) }, 'a sponsor runs out of gas money')
      return { network, sponsor, wei, low }
    } catch {
      // Whoever reads this wants to hear that it is not known, not an error page.
      return { network, sponsor, wei: null, low: false }
    }
  }

  return () => {
    const now = parts.clock.now().getTime()
    if (now - readAt >= EVERY_MS) {
      readAt = now
      const chains = [...parts.chains.values()]
      known = Promise.all(chains.flatMap((chain) => parts.keys.map((key) => read(chain, chain.addressOf(key)))))
    }
    return known
  }
}

const EVERY_MS = 30_000
