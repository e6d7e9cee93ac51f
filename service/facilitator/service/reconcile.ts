import type { Chain } from '../../chain/model.ts'
import { follow } from './follow.ts'
import { judge } from './judge.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'

/**
 * Ends what no worker ends: settlements that were not signed in time, those that another party's transaction
 * settled, and transactions of a sponsor whose key was taken out of the configuration.
 */
export async function reconcile(deps: FacilitatorDeps, now: Date): Promise<void> {
  const outcomes = await Promise.allSettled([...deps.chains.values()].map((chain) => reconcileOne(deps, chain, now)))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function reconcileOne(deps: FacilitatorDeps, chain: Chain, now: Date): Promise<void> {
  const { store } = deps
  const network = chain.network.name
  const before = new Date(now.getTime() - PACE.looseMs)
  for (const settlement of await store.loose(network, before, 200)) await judge(deps, chain, settlement, 'waiting')
  for (const transaction of await store.open(network, { others: deps.keys.map((key) => chain.addressOf(key)) })) {
    if (transaction.signedAt > before || (await follow(deps, chain, transaction))) continue
    // Signed for good: sending it needs no key. Its fees can be raised no more.
    await chain.broadcast(transaction.raw).catch((error: unknown) => {
      deps.log.warn({ hash: transaction.hash, code: (error as { code?: unknown }).code }, 'an orphan did not go out')
    })
  }
}
