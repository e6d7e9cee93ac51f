import type { Address, Chain } from '../../chain/model.ts'
import { paysForOne } from '../rules.ts'
import type { FacilitatorDeps } from './deps.ts'

export interface SponsorGas {
  network: string
  sponsor: Address
  /** Null until it is known. */
  wei: bigint | null
  low: boolean
  /** Cannot pay for a single transfer. */
  empty: boolean
}

interface Read extends SponsorGas {
  price: bigint
}

/** The sponsors' balances, read every few seconds at most, regardless of the number of payments. */
export function createGasWatch(deps: FacilitatorDeps) {
  const sponsors = [...deps.chains.values()].flatMap((chain) =>
    deps.keys.map((key) => ({ chain, sponsor: chain.addressOf(key) })),
  )
  let latest: readonly Read[] = sponsors.map(({ chain, sponsor }) => unknown(chain, sponsor))
  let readAt = 0
  let first: Promise<unknown> | null = null

  async function read(chain: Chain, sponsor: Address): Promise<Read> {
    const network = chain.network.name
    try {
      const [wei, fees] = await Promise.all([chain.nativeBalance(sponsor), chain.fees()])
      const low = wei < deps.settings.lowBalance
      const empty = !paysForOne(wei, fees)
      if (low) deps.log.warn({ network, sponsor, wei: String(wei), empty }, 'a sponsor is running out of gas')
      return { network, sponsor, wei, low, empty, price: fees.maxFeePerGas }
    } catch {
      // The balance is unknown, which is not an error. The last price stays in force: at a price of 0 the budgets would
      // have no effect.
      const price = latest.find((one) => one.network === network && one.sponsor === sponsor)?.price
      return { ...unknown(chain, sponsor), price: price ?? 0n }
    }
  }

  function refreshed(): readonly Read[] {
    const now = deps.clock.now().getTime()
    if (now - readAt >= EVERY_MS) {
      readAt = now
      const reading = Promise.all(sponsors.map(({ chain, sponsor }) => read(chain, sponsor))).then((read) => {
        latest = read
      })
      first ??= reading
    }
    return latest
  }

  /** Whether any sponsor on this network can pay for a transfer, as far as this process knows. */
  function seemsToPay(network: string): boolean {
    const there = refreshed().filter((one) => one.network === network)
    // When other processes have the keys, this one knows no balances.
    return there.length === 0 || there.some(({ empty }) => !empty)
  }

  return {
    /** Does not wait for the chain: a dead RPC must not hold up /readyz. */
    known: (): readonly SponsorGas[] =>
      refreshed().map(({ network, sponsor, wei, low, empty }) => ({ network, sponsor, wei, low, empty })),
    seemsToPay,
    /** The same, but waits for the first reading of the balances. */
    async pays(network: string): Promise<boolean> {
      refreshed()
      await first
      return seemsToPay(network)
    },
    /** Today's price of a unit of gas on the network, in wei. 0 until it is known. */
    priceOf: (network: string): bigint => refreshed().find((one) => one.network === network)?.price ?? 0n,
    isEmpty: (network: string, sponsor: Address): boolean =>
      refreshed().some((one) => one.network === network && one.sponsor === sponsor && one.empty),
  }
}

export type GasWatch = ReturnType<typeof createGasWatch>

function unknown(chain: Chain, sponsor: Address): Read {
  return { network: chain.network.name, sponsor, wei: null, low: false, empty: false, price: 0n }
}

const EVERY_MS = 5_000
