import type { Chain } from '../../chain/model.ts'
import { isConfirmed } from '../../chain/networks.ts'
import type { Settlement } from '../model.ts'
import { isOver, isPaidBy } from '../rules.ts'
import type { FacilitatorDeps } from './deps.ts'

/**
 * Decides about an authorization that our own transaction did not move. Another party has used its nonce, or it is
 * unused and may be tried once more, or it can never succeed. It reads the chain each time, so a second judgment has
 * the same result. `after` is `waiting` when it still waits for a sponsor or a block. Otherwise a block has run it
 * without success: `among-others`, where other items may have used up its gas, or `alone`, where another attempt would
 * fail the same way.
 */
export async function judge(
  deps: FacilitatorDeps,
  chain: Chain,
  settlement: Settlement,
  after: 'waiting' | 'among-others' | 'alone',
): Promise<void> {
  const { store, clock, log, measures } = deps
  const scheme = deps.schemes.of(settlement)
  const uses = scheme.usesOf(chain, settlement)
  if (uses === null) return await judgeMessage(deps, chain, settlement, after)
  const { authorization, seenBlock, digest } = settlement
  const { used: usedReason, expired, failed } = scheme.reasonsOf(settlement.operation)
  const head = await chain.head()
  if (await uses.isUsed()) {
    const use = await uses.find(seenBlock)
    if (use === null) {
      // The node that has the event lags behind the node that has the state. The next turn asks again.
      if (!uses.isSilent) return
      const agreed = await uses.agreed({ from: seenBlock, past: authorization.validBefore })
      if (!agreed.known || !agreed.used || agreed.use !== null) return
      return await store.fail(settlement, usedReason, false, clock.now())
    }
    if (!isPaidBy(use, settlement)) {
      // Its expiry is passed as `past`: when the second node is unavailable for long, the first one's answer counts in
      // the end.
      const past = authorization.validBefore
      const agreed = await uses.agreed({ from: seenBlock, past })
      if (!agreed.known || agreed.use === null || isPaidBy(agreed.use, settlement)) return
      return await store.fail(settlement, usedReason, false, clock.now())
    }
    const final = isConfirmed(use.blockNumber, head.number, deps.settings.confirmations)
    await store.settledElsewhere(settlement, use, final, clock.now())
    return
  }
  if (settlement.external) {
    log.warn({ digest }, 'an external settlement disappeared from the chain; this facilitator settles it')
    measures.count('settlement_reorganised')
    return await store.release(settlement, settlement.payerHasCode)
  }
  if (isOver(settlement, head.timestamp)) {
    // The state may come from a node that lags behind the one that named the block, so one of the nodes may have the
    // payment.
    const past = authorization.validBefore
    const agreed = await uses.agreed({ from: seenBlock, past })
    if (!agreed.known || agreed.used) return
    return await store.fail(settlement, expired, false, clock.now())
  }
  if (after === 'waiting') return

  const { refusal, payerHasCode, payerDecides } = await scheme.simulateAgain(chain, settlement)
  // The nonce was used since the first check. The next turn finds out by which transaction.
  if (refusal === usedReason) return
  if (refusal !== null) return await store.fail(settlement, refusal, false, clock.now())
  // It would succeed now. In a batch it may have run out of gas, so it gets a transaction of its own.
  // One that has code since then is called in another way: its wallet was deployed by another transaction.
  const isDeployedSince = payerHasCode && !settlement.payerHasCode
  if (after === 'among-others' || isDeployedSince) return await store.release(settlement, payerHasCode)
  await store.fail(settlement, failed, !payerDecides, clock.now())
}

/**
 * Only the operator can do what a seller's message asks for, so nobody else can have done it. On chain, nothing stops a
 * second capture: after a transaction that a block has run, or that was lost, the service does not repeat it by itself.
 */
async function judgeMessage(
  { store, schemes, clock }: FacilitatorDeps,
  chain: Chain,
  settlement: Settlement,
  after: 'waiting' | 'among-others' | 'alone',
): Promise<void> {
  const { failed, expired } = schemes.of(settlement).reasonsOf(settlement.operation)
  if (after !== 'waiting') return await store.fail(settlement, failed, true, clock.now())
  // Once it is signed, its receipt decides.
  if (settlement.state !== 'claimed' || !isOver(settlement, (await chain.head()).timestamp)) return
  await store.fail(settlement, expired, false, clock.now())
}
