import type { Chain, Receipt } from '../../chain/model.ts'
import { isConfirmed, MULTICALL } from '../../chain/networks.ts'
import type { Settlement, SponsorTransaction } from '../model.ts'
import { isNothing } from '../rules.ts'
import { judge } from './judge.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'

/**
 * Looks for a transaction on the chain and stores what it finds. Null when the transaction is in no block. Two
 * processes may run it at once: every write names the states that it may change.
 */
export async function follow(
  deps: FacilitatorDeps,
  chain: Chain,
  transaction: SponsorTransaction,
): Promise<Mined | null> {
  const receipt = await receiptOf(chain, transaction)
  if (receipt === null) {
    if (transaction.state === 'mined') await reopen(deps, transaction)
    return null
  }
  const isNew = receipt.blockHash !== transaction.blockHash
  const mined = isNew ? await record(deps, transaction, receipt) : { settled: [], isComplete: false }
  if (!mined.isComplete) await judgeRest(deps, chain, transaction)
  // A final transaction is not checked again, so it stays open as long as something in it cannot be judged.
  if (!isNew && (await isDeep(deps, chain, receipt))) await deps.store.finish(transaction)
  return mined
}

interface Mined {
  /** What this look has stored as settled. */
  settled: readonly Settlement[]
  /** Those were all that the transaction carried. */
  isComplete: boolean
}

/** Any of its hashes may be the mined one: a fee raise may have come too late. */
async function receiptOf(chain: Chain, transaction: SponsorTransaction): Promise<Receipt | null> {
  for (const hash of transaction.hashes) {
    const receipt = await chain.receipt(hash)
    if (receipt !== null) return receipt
  }
  return null
}

async function record(deps: FacilitatorDeps, transaction: SponsorTransaction, receipt: Receipt): Promise<Mined> {
  const { store, clock } = deps
  await deps.failpoints.reach('transaction mined')
  const before = transaction.state === 'mined' ? await store.vanished(transaction) : []
  const [carried, bearers] = await Promise.all([store.carried(transaction), store.bearers(transaction)])
  const moved = carried.filter((settlement) => deps.schemes.of(settlement).isDone(settlement, receipt))
  const now = clock.now()
  await store.mined(transaction, receipt, { settled: moved.map(({ digest }) => digest), bearers }, now)
  await deps.failpoints.reach('settlement settled')
  deps.measures.count('settled', moved.length)
  alarm(deps, transaction, before.filter((digest) => !moved.some((settlement) => settlement.digest === digest)).length)
  const { hash: txHash, blockNumber } = receipt
  const settled = moved.map((settlement) => ({
    ...settlement,
    state: 'settled' as const,
    txHash,
    blockNumber,
    endedAt: now,
  }))
  return { settled, isComplete: moved.length > 0 && moved.length === carried.length }
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
  return isConfirmed(receipt.blockNumber, head.number, deps.settings.confirmations)
}

/**
 * Judges one by one the settlements that our transaction did not move. The others in the batch already have their
 * success.
 */
async function judgeRest(deps: FacilitatorDeps, chain: Chain, transaction: SponsorTransaction): Promise<void> {
  const rest = await deps.store.carried(transaction)
  // A single one calls the token, or another contract. A batch calls Multicall3, as does what deploys a wallet.
  const isSingle = transaction.target !== MULTICALL && !isNothing(transaction)
  for (const settlement of rest) {
    await judge(deps, chain, settlement, isSingle || settlement.alone ? 'alone' : 'among-others')
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
    if (transaction.signedAt > before || (await follow(deps, chain, transaction)) !== null) continue
    // It is signed, so sending it needs no key. Its fees can no longer be raised.
    await chain.broadcast(transaction.raw).catch((error: unknown) => {
      deps.log.warn(
        { hash: transaction.hash, code: (error as { code?: unknown }).code },
        'an orphaned transaction could not be sent',
      )
    })
  }
}
