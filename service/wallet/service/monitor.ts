import type { Address, Chain, TransferScan } from '../../chain/model.ts'
import { blocksIn, newestConfirmed } from '../../chain/networks.ts'
import { DomainError } from '../../kit/errors.ts'
import { largest, least } from '../../kit/money.ts'
import { NETWORK_OF, type Cursor, type OwnAddress } from '../model.ts'
import type { Crediting } from './credit.ts'
import { PACE, type WalletDeps } from './deps.ts'

/**
 * Reads each block of a network once it has enough confirmations, and credits the transfers to our addresses. The
 * cursor only passes blocks whose transfers are credited, and each credit happens once, so reading a block again
 * changes nothing.
 */
export function createMonitor(deps: WalletDeps, chain: Chain, crediting: Crediting) {
  const { store, book, clock, log, measures, settings } = deps
  const network = chain.network.name
  const environment = NETWORK_OF.production === network ? 'production' : 'sandbox'
  const watched: OwnAddress[] = []
  let width: bigint = PACE.searchMax

  /** Reads everything up to the newest block with enough confirmations, or until the signal aborts. */
  async function turn(_now: Date, signal: AbortSignal): Promise<void> {
    const { number: head } = await chain.head()
    const newest = newestConfirmed(head, settings.confirmations)
    if (newest < 0n) return
    await loadWatched()
    const read = await store.cursors.read(network)
    let cursor = read
    let from = read === null ? firstBlock(newest) : read.blockNumber - PACE.overlap + 1n
    // Behind a fail-over address there may be a node that lags behind the previous one.
    if (read !== null && newest <= read.blockNumber) return
    while (from <= newest && !signal.aborted) {
      const upTo = least(newest, largest(0n, from) + width - 1n)
      const scan = await search(largest(0n, from), upTo, cursor)
      if (cursor !== null && scan.markHash !== cursor.blockHash) {
        await reportReorganisation(cursor)
        from = cursor.blockNumber - PACE.rewind
        // The chain is a different one from here on. The next cursor is the first to compare with.
        cursor = null
        continue
      }
      if (!(await creditAll(scan, signal))) return
      cursor = { network, blockNumber: upTo, blockHash: scan.blockHash, head, at: clock.now() }
      await store.cursors.write(cursor)
      from = upTo + 1n
      if (width < PACE.searchMax) width = least(PACE.searchMax, width * 2n)
    }
  }

  async function search(from: bigint, upTo: bigint, cursor: Cursor | null): Promise<TransferScan> {
    const to: Address[] = watched.map(({ address }) => address)
    if (book !== null) to.push(book.treasury)
    try {
      return await chain.transfersTo({ to, from, upTo, ...(cursor === null ? {} : { mark: cursor.blockNumber }) })
    } catch (error) {
      // An RPC may report a too wide range with any error, so the next turn asks for fewer blocks.
      if (error instanceof DomainError && error.kind === 'unavailable') width = largest(1n, width / 4n)
      throw error
    }
  }

  /** False when a transfer could not be credited yet. The cursor must then stay before it. */
  async function creditAll({ transactions }: TransferScan, signal: AbortSignal): Promise<boolean> {
    for (let at = 0; at < transactions.length; at += PACE.creditsAtOnce) {
      if (signal.aborted) return false
      const group = transactions.slice(at, at + PACE.creditsAtOnce)
      const known = await store.deposits.counts(
        network,
        group.map(({ hash }) => hash),
      )
      // A transaction that a reorganisation had removed is in a block again.
      if (known.size > 0) await store.deposits.cameBack(network, [...known.keys()])
      const fresh = group.filter(({ hash, transfers }) => (known.get(hash) ?? 0) < transfers)
      const credited = await Promise.all(fresh.map(({ hash }) => crediting.creditTransaction(network, hash, 'monitor')))
      for (const count of credited) {
        // The node has the log but not the receipt, so it lags behind. The next turn asks again.
        if (count === null) return false
        measures.count('deposit_detected', count)
      }
    }
    return true
  }

  /** A reorganization deeper than the confirmations. The credits stay, and the operator must know about it. */
  async function reportReorganisation(cursor: Cursor): Promise<void> {
    log.error(
      { network, block: String(cursor.blockNumber) },
      'the network has reorganised blocks that counted as confirmed',
    )
    measures.count('deposit_reorganisation')
    for (const { transfer, goneAt } of await store.deposits.since(network, cursor.blockNumber - PACE.rewind)) {
      const gone = (await chain.receipt(transfer.transactionHash)) === null
      if (gone === (goneAt !== null)) continue
      await store.deposits.markGone(transfer, gone ? clock.now() : null)
      if (!gone) continue
      log.error({ network, hash: transfer.transactionHash }, 'a credited deposit is not on the chain any more')
      measures.count('deposit_reorganised')
    }
  }

  /** Addresses may be committed in another order than their numbers, so the last ones are read again. */
  async function loadWatched(): Promise<void> {
    const from = Math.max(0, (watched.at(-1)?.index ?? 0) - OUT_OF_ORDER)
    const found = await store.addresses.from(environment, from)
    while ((watched.at(-1)?.index ?? -1) >= from) watched.pop()
    watched.push(...found)
  }

  /** Where the first read starts: some blocks before the oldest address was assigned. */
  function firstBlock(newest: bigint): bigint {
    const oldest = Math.min(...watched.map(({ since }) => since.getTime()), clock.now().getTime())
    return newest - blocksIn(clock.now().getTime() - oldest) - PACE.rewind
  }

  return { network, turn }
}

const OUT_OF_ORDER = 1_000
