import type { Address, Chain, TransferScan } from '../../chain/model.ts'
import { DomainError } from '../../kit/errors.ts'
import { largest, least } from '../../kit/money.ts'
import { NETWORK_OF, type Cursor, type OwnAddress } from '../model.ts'
import { deepEnough } from '../rules.ts'
import type { Crediting } from './credit.ts'
import { PACE, type WalletDeps } from './deps.ts'

/**
 * Reads each block of a network once it is deep enough, and credits the transfers to our addresses. The cursor moves
 * only past what is credited, and every credit happens once, so reading the same blocks again changes nothing.
 */
export function createMonitor(deps: WalletDeps, chain: Chain, crediting: Crediting) {
  const { store, book, clock, log, measures, settings } = deps
  const network = chain.network.name
  const environment = NETWORK_OF.production === network ? 'production' : 'sandbox'
  const watched: OwnAddress[] = []
  let width: bigint = PACE.searchMax

  /** Everything up to the newest block that is deep enough, or until the signal. */
  async function turn(_now: Date, signal: AbortSignal): Promise<void> {
    const { number: head } = await chain.head()
    const newest = deepEnough(head, settings.confirmations)
    if (newest < 0n) return
    await loadWatched()
    const read = await store.cursors.read(network)
    let cursor = read
    let from = read === null ? firstBlock(newest) : read.blockNumber - PACE.overlap + 1n
    // Behind a fail-over there may be a node that is not as far as the last one was.
    if (read !== null && newest <= read.blockNumber) return
    while (from <= newest && !signal.aborted) {
      const upTo = least(newest, largest(0n, from) + width - 1n)
      const scan = await search(largest(0n, from), upTo, cursor)
      if (cursor !== null && scan.markHash !== cursor.blockHash) {
        await reportReorganisation(cursor)
        from = cursor.blockNumber - PACE.rewind
        // From here on it is another chain: there is nothing to compare with until the next note.
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
      // The RPC may refuse the width of the range, with any error: the next turn asks for less.
      if (error instanceof DomainError && error.kind === 'unavailable') width = largest(1n, width / 4n)
      throw error
    }
  }

  /** False where something could not be credited yet: the cursor must not pass it. */
  async function creditAll({ transactions }: TransferScan, signal: AbortSignal): Promise<boolean> {
    for (let at = 0; at < transactions.length; at += PACE.creditsAtOnce) {
      if (signal.aborted) return false
      const group = transactions.slice(at, at + PACE.creditsAtOnce)
      const known = await store.deposits.counts(
        network,
        group.map(({ hash }) => hash),
      )
      const fresh = group.filter(({ hash, transfers }) => (known.get(hash) ?? 0) < transfers)
      const credited = await Promise.all(fresh.map(({ hash }) => crediting.creditTransaction(network, hash, 'monitor')))
      for (const count of credited) {
        // A node that knows the log and not the receipt lags behind; asked again at the next turn.
        if (count === null) return false
        measures.count('deposit_detected', count)
      }
    }
    return true
  }

  /** A reorganisation deeper than the confirmations. What was credited stays; the operator has to know. */
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

  /** Numbers may be committed out of their order, so the last ones are asked for again. */
  async function loadWatched(): Promise<void> {
    const from = Math.max(0, (watched.at(-1)?.index ?? 0) - OUT_OF_ORDER)
    const found = await store.addresses.from(environment, from)
    while ((watched.at(-1)?.index ?? -1) >= from) watched.pop()
    watched.push(...found)
  }

  /** For the first read: some blocks before the oldest address was assigned. */
  function firstBlock(newest: bigint): bigint {
    const oldest = Math.min(...watched.map(({ since }) => since.getTime()), clock.now().getTime())
    const age = BigInt(Math.ceil((clock.now().getTime() - oldest) / PACE.blockMs))
    return newest - age - PACE.rewind
  }

  return { network, turn }
}

const OUT_OF_ORDER = 1_000
