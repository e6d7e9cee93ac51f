import type { Address, Chain } from '../../chain/model.ts'
import type { FacilitatorParts } from './parts.ts'

export interface SponsorGas {
  network: string
  sponsor: Address
  /** Null while it is not known. */
  wei: bigint | null
  low: boolean
}

/** What the sponsors have left, read twice a minute at most. Nobody waits for it: a dead RPC must not hold up /readyz. */
export function createGasWatch(parts: FacilitatorParts): () => readonly SponsorGas[] {
  const sponsors = [...parts.chains.values()].flatMap((chain) =>
    parts.keys.map((key) => ({ chain, sponsor: chain.addressOf(key) })),
  )
  let known: readonly SponsorGas[] = sponsors.map(({ chain, sponsor }) => unknown(chain, sponsor))
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
      return unknown(chain, sponsor)
    }
  }

  return () => {
    const now = parts.clock.now().getTime()
    if (now - readAt >= EVERY_MS) {
      readAt = now
      void Promise.all(sponsors.map(({ chain, sponsor }) => read(chain, sponsor))).then((read) => (known = read))
    }
    return known
  }
}

function unknown(chain: Chain, sponsor: Address): SponsorGas {
  return { network: chain.network.name, sponsor, wei: null, low: false }
}

const EVERY_MS = 30_000
