import type { Chain, Receipt } from '../../chain/model.ts'
import { ESCROW } from '../../chain/networks.ts'
import type { SponsorTransaction } from '../model.ts'
import { isMoved } from '../rules.ts'
import { judge } from './judge.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'

/**
 * Looks for a transaction on the chain and stores what it finds. Returns whether the transaction is in a block. Two
 * processes may run it at once: every write names the states that it may change.
 */
export async function follow(deps: FacilitatorDeps, chain: Chain, transaction: SponsorTransaction): Promise<boolean> {
  const receipt = await receiptOf(chain, transaction)
  if (receipt === null) {
    if (transaction.state === 'mined') await reopen(deps, transaction)
    return false
  }
  const isNew = receipt.blockHash !== transaction.blockHash
  if (isNew) await record(deps, transaction, receipt)
  await judgeRest(deps, chain, transaction)
  // A final transaction is not checked again, so it stays open as long as something in it cannot be judged.
  if (!isNew && (await isDeep(deps, chain, receipt))) await deps.store.finish(transaction)
  return true
}

/** Any of its hashes may be the mined one: a fee raise may have come too late. */
async function receiptOf(chain: Chain, transaction: SponsorTransaction): Promise<Receipt | null> {
  for (const hash of transaction.hashes) {
    const receipt = await chain.receipt(hash)
    if (receipt !== null) return receipt
  }
  return null
}

async function record(deps: FacilitatorDeps, transaction: SponsorTransaction, receipt: Receipt): Promise<void> {
  const { store, clock } = deps
  await deps.failpoints.reach('transaction mined')
  const before = transaction.state === 'mined' ? await store.vanished(transaction) : []
  const moved = (await store.carried(transaction)).filter((settlement) => isMoved(settlement, receipt))
  await store.mined(
    transaction,
    receipt,
    moved.map(({ digest }) => digest),
    clock.now(),
  )
  await deps.failpoints.reach('settlement settled')
  deps.measures.count('settled', moved.length)
  alarm(deps, transaction, before.filter((digest) => !moved.some((settlement) => settlement.digest === digest)).length)
}

/** Its block is gone. It is sent again, and the settlements that it ended are open until it is mined again. */
async function reopen(deps: FacilitatorDeps, transaction: SponsorTransaction): Promise<void> {
  deps.log.warn(
    { network: transaction.network, hash: transaction.hash },
    'a sponsor transaction disappeared from the chain',
  )
  const handedOut = await deps.store.vanished(transaction)
  alarm(deps, transaction, handedOut.length)
}

/** A seller has delivered for a payment that is no longer on the chain. Usually the next block contains it again. */
function alarm(deps: FacilitatorDeps, transaction: SponsorTransaction, settlements: number): void {
  deps.measures.count('settlement_reorganised', settlements)
  if (settlements > 0)
    deps.log.error(
      { hash: transaction.hash, settlements },
      'settlements that were reported as successful are open again',
    )
}

async function isDeep(deps: FacilitatorDeps, chain: Chain, receipt: Receipt): Promise<boolean> {
  const head = await chain.head()
  return head.number - receipt.blockNumber + 1n >= BigInt(deps.settings.confirmations)
}

/**
 * Judges one by one the settlements that our transaction did not move. The others in the batch already have their
 * success.
 */
async function judgeRest(deps: FacilitatorDeps, chain: Chain, transaction: SponsorTransaction): Promise<void> {
  const rest = await deps.store.carried(transaction)
  // A batch calls Multicall3. A single settlement calls the token or the escrow.
  const alone = transaction.target === chain.network.usdc.address || transaction.target === ESCROW.address
  for (const settlement of rest) {
    await judge(deps, chain, settlement, alone ? 'alone' : 'among-others')
  }
}

/**
 * Ends what no worker ends: settlements that were not signed in time, settlements that another party's transaction
 * settled, and transactions of a sponsor whose key was removed from the configuration.
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
    // It is signed, so sending it needs no key. Its fees can no longer be raised.
    await chain.broadcast(transaction.raw).catch((error: unknown) => {
      deps.log.warn(
        { hash: transaction.hash, code: (error as { code?: unknown }).code },
        'an orphaned transaction could not be sent',
      )
    })
  }
}
