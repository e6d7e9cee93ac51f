import type { Chain } from '../../chain/model.ts'
import type { Usdc } from '../../kit/money.ts'
import type { PaymentAddress } from '../model.ts'
import type { PaymentAddressDeps } from './deps.ts'

export interface FoundAddress {
  place: PaymentAddress
  /** What it had at the block up to which its transfers are read. */
  balance: Usdc
}

/** Stores who sent the money of these addresses. What could not be read is searched again while its order has not ended. */
export async function noteSenders(
  { store, log }: Pick<PaymentAddressDeps, 'store' | 'log'>,
  chain: Chain,
  { found, head }: { found: readonly FoundAddress[]; head: bigint },
): Promise<void> {
  // After an order has ended the seller's refund may come, which is not from its buyer.
  const places = found.filter(({ place, balance }) => place.endedAt === null && balance > 0n).map(({ place }) => place)
  if (places.length === 0) return
  const next = head + 1n
  const earliest = places.reduce((least, { fromBlock }) => min(least, fromBlock ?? 0n), head)
  const from = largest(earliest - REPLACED_MAX, next - SEARCH_MAX, 0n)
  try {
    const { transfers } = await chain.transfersTo({ to: places.map(({ address }) => address), from, upTo: head })
    for (const place of places) {
      const senders = transfers.filter(({ to }) => to === place.address).map((transfer) => transfer.from)
      const all = [...new Set([...place.senders, ...senders])].slice(0, SENDERS_MAX)
      await store.sentBy(place, { senders: all, fromBlock: next })
    }
  } catch (error) {
    log.warn({ err: error }, 'the senders of transfers to orders could not be read')
  }
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
