import type { NetworkName } from '../../chain/networks.ts'
import type { Ledger } from '../../ledger/service.ts'
import { NETWORK_OF, type Reconciliation } from '../model.ts'
import type { Payers, Snapshot } from '../ports.ts'
import { differenceOf } from '../rules.ts'
import type { WalletDeps } from './deps.ts'

/**
 * Compares the books with the chain, both as of the last block that is fully booked. It depends on little of the
 * wallet, so that an operator can run it beside the service.
 */
export function createReconciling(deps: ReconcilingDeps) {
  const { ledger, store, book, chains, clock, log, measures } = deps
  // The sandbox's money is not on chain, so there is nothing to compare it with.
  const network: NetworkName = NETWORK_OF.production

  /**
   * Writes a report. Null when the comparison is not possible: no chain, nothing read yet, or the monitor lags behind.
   */
  async function reconcile(): Promise<Reconciliation | null> {
    const chain = chains.get(network)
    if (chain === undefined || book === null) return null
    const seen = await look()
    if (seen === null) return null
    const { snapshot, totals, payers } = seen
    const { blockNumber } = snapshot.cursor
    // Nodes store the state of the last 128 blocks only.
    if ((await chain.head()).number - blockNumber > STATE_KEPT) return null
    const [treasury = 0n, ...rest] = await chain.balancesAt(
      [book.treasury, ...payers.addresses, ...snapshot.addresses],
      blockNumber,
    )
    const left = snapshot.submitted.flatMap(({ terms, ...of }) => (terms === null ? [] : [{ ...of, ...terms }]))
    const gone = await Promise.all(
      [...left, ...payers.open].map(async ({ payer, nonce, amount }) => {
        return (await chain.authorizationAt(payer, nonce, blockNumber)).used ? amount : 0n
      }),
    )
    const sums = {
      wallets: totals.wallets,
      revenue: totals.revenue,
      // The payments of buyers without an account also reached the treasury, and are booked. Losses are the operator's.
      capital: snapshot.capital - totals.guests - payers.lost,
      treasury,
      payers: add(rest.slice(0, payers.addresses.length)),
      depositAddresses: add(rest.slice(payers.addresses.length)),
      inFlight: add(gone) + snapshot.laterDeposits - snapshot.laterWithdrawals - payers.later,
    }
    const report = { network, blockNumber, at: clock.now(), ...sums, difference: differenceOf(sums) }
    await store.reports.add(report)
    if (report.difference !== 0n) {
      measures.count('reconciliation_difference')
      log.error(
        { network, block: String(blockNumber), difference: String(report.difference) },
        'the ledger and the chain differ',
      )
    }
    return report
  }

  /** Reads both in one snapshot: a deposit between two reads would look like a difference. */
  function look(): Promise<{ snapshot: Snapshot; totals: Totals; payers: Payers } | null> {
    return deps.atOneMoment(async (inside) => {
      const snapshot = await store.reports.snapshot(network, inside)
      if (snapshot === null) return null
      const payers = await deps.payers.books(network, snapshot.cursor.blockNumber, inside)
      return { snapshot, payers, totals: await ledger.totals('production', inside) }
    })
  }

  return { reconcile, newest: () => store.reports.newest(network) }
}

export type Reconciling = ReturnType<typeof createReconciling>

export interface ReconcilingDeps extends Pick<
  WalletDeps,
  'store' | 'book' | 'chains' | 'payers' | 'atOneMoment' | 'clock' | 'log' | 'measures'
> {
  ledger: Pick<Ledger, 'totals'>
}

type Totals = Awaited<ReturnType<Ledger['totals']>>

const STATE_KEPT = 100n

function add(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
