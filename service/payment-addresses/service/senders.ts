import type { Chain } from '../../chain/model.ts'
import type { Usdc } from '../../kit/money.ts'
import type { PaymentAddress } from '../model.ts'
import type { PaymentAddressDeps } from './deps.ts'

export interface FoundAddress {
  place: PaymentAddress
  /** What it has at the block up to which its transfers are read. */
  balance: Usdc
}

export type Senders = Pick<PaymentAddress, 'senders' | 'fromBlock'>

/** Who sent what has arrived at these addresses. Orders do not wait for it: where it cannot be read they go on. */
export async function readSenders(
  { log }: Pick<PaymentAddressDeps, 'log'>,
  chain: Chain,
  { found, head }: { found: readonly FoundAddress[]; head: bigint },
): Promise<(place: PaymentAddress) => Senders> {
  const grown = new Set(found.filter(hasNewMoney).map(({ place }) => place))
  const next = head + 1n
  // Where nothing is new, nothing came before the next block. What could not be read is searched again.
  const unread = (place: PaymentAddress): Senders => ({
    senders: place.senders,
    fromBlock: place.fromBlock === null || grown.has(place) ? place.fromBlock : next,
  })
  if (grown.size === 0) return unread
  const places = [...grown]
  const earliest = places.reduce((least, { fromBlock }) => min(least, fromBlock ?? least), head)
  const from = largest(earliest - REPLACED_MAX, next - SEARCH_MAX, 0n)
  try {
    const { transfers } = await chain.transfersTo({ to: places.map(({ address }) => address), from, upTo: head })
    return (place) => {
      if (!grown.has(place)) return unread(place)
      const senders = transfers.filter(({ to }) => to === place.address).map((transfer) => transfer.from)
      return { senders: [...new Set([...place.senders, ...senders])].slice(0, SENDERS_MAX), fromBlock: next }
    }
  } catch (error) {
    log.warn({ err: error }, 'the senders of transfers to orders could not be read')
    return unread
  }
}

/** After an order has ended the seller's refund may come, which is not from its buyer. */
function hasNewMoney({ place, balance }: FoundAddress): boolean {
  const { fromBlock, endedAt, senders } = place
  return fromBlock !== null && endedAt === null && (balance > place.balance || (balance > 0n && senders.length === 0))
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function largest(...all: bigint[]): bigint {
  return all.reduce((most, one) => (one > most ? one : most))
}

/** A reorganisation may have put newer transfers into blocks that were read before. */
const REPLACED_MAX = 64n
/** In blocks: what came longer ago, while no worker looked, has no known sender. RPCs allow about this much. */
const SEARCH_MAX = 10_000n
/** Anybody can send dust. */
const SENDERS_MAX = 20
