import type { Hex } from '../../chain/model.ts'
import { blockBefore, isConfirmed } from '../../chain/networks.ts'
import { Batch } from '../../kit/batch.ts'
import type { Claim, Examined, Schemes } from '../ports.ts'
import { gasSpent, networkUnavailable, outOfGas } from '../errors.ts'
import type { GasWatch } from './gas.ts'
import type { SettleResult, SettleRequester, Settlement } from '../model.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { isFinalFailure, isMendable, isMessage, isPaidBy, overBudget, secondsUntilTomorrow } from '../rules.ts'
import type { Signals, Watch } from './signal.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'

export interface Settling {
  settle(payment: PaymentRequest, requester: SettleRequester): Promise<SettleResult & { digest: Hex | null }>
  /** The same for what a scheme has examined itself: what our own sellers ask for about a payment that they took. */
  carryOut(payment: PaymentRequest, examined: Examined | Reason, requester: SettleRequester): Promise<SettleResult>
}

/** From a payment to a result. The process that holds a sponsor's lease makes the transaction. */
export function createSettling(deps: FacilitatorDeps, gas: GasWatch, signals: Signals): Settling {
  const { store, clock, settings } = deps
  const look = createLook(store)

  async function carryOut(
    payment: PaymentRequest,
    examined: Examined | Reason,
    requester: SettleRequester,
  ): ReturnType<Settling['settle']> {
    if (typeof examined === 'string') return { ...failed(payment, examined), digest: null }
    const { digest } = examined
    if (examined.isNothing) return { ...(await nothingToMove(examined)), digest }
    // Before anything is read, so that what ends in between is not missed.
    const watch = signals.ended.watch(digest)
    try {
      const entered = await enter(examined, requester)
      if (typeof entered === 'string') return { ...failed(payment, entered), digest }
      const result = await outcome(examined, entered, { requester, watch })
      const { rest } = examined
      const isDone = !result.success || rest === null || (await isVoidAsked(deps, rest, enter(rest, requester)))
      return { ...(isDone ? result : pending(result.payer, result.txHash)), digest }
    } finally {
      watch.close()
    }
  }

  /** The settlement of an authorization that is claimed, now or earlier. */
  async function enter(examined: Examined, requester: SettleRequester): Promise<Entered | Reason> {
    const known = await look(examined.digest)
    if (known !== null) {
      const refusal = refuseKnown(examined, known)
      if (refusal !== null) return refusal
      return mayRevive(examined, known, requester)
        ? ((await revive(deps, examined, { requester, gas, signals })) ?? UNREAD)
        : { settlement: known }
    }
    const claimed = await signals.arrivals.during(examined.network.name, () => claim(examined, requester))
    if (typeof claimed !== 'string') return claimed
    // Another request may have claimed and settled it since the first check. The chain then refuses because of that
    // settlement.
    const since = await look(examined.digest)
    return since === null ? claimed : (refuseKnown(examined, since) ?? { settlement: since })
  }

  /** A refusal before the claim leaves no trace. */
  async function claim(examined: Examined, requester: SettleRequester): Promise<Entered | Reason> {
    const { chain } = examined
    // The block is read first, so any use of the nonce after the simulation is in a later block.
    const { number } = await chain.head()
    // An operation is simulated from its operator, which must have gas for that too.
    if (examined.operation !== null) await assertGas(deps, gas, examined, requester)
    // Both at once: the database and the chain know nothing of each other. The chain's refusal comes first.
    const [simulation, affordable] = await Promise.allSettled([
      examined.simulate(requester.retryFailed === true),
      examined.operation === null ? assertGas(deps, gas, examined, requester) : null,
    ])
    if (simulation.status === 'rejected') throw simulation.reason
    const simulated = simulation.value
    if (simulated.refusal !== null) {
      const refusal = await refuseUnlessPaid(deps, examined, requester, simulated.refusal)
      if (refusal !== null) return refusal
      signals.ended.notify(examined.digest)
      return UNREAD
    }
    if (affordable.status === 'rejected') throw affordable.reason
    const { payerHasCode, payerDecides: alone, gas: used, seenBlock = number } = simulated
    const caller = callerOf(requester)
    const claim = claimOf(examined, { payerHasCode, alone, gas: used, seenBlock, caller, now: clock.now() })
    const settlement = await store.claim(claim)
    if (settlement === null) return examined.reasons.taken
    await deps.failpoints.reach('settlement claimed')
    signals.claimed.notify()
    return { settlement }
  }

  /** Waits for the outcome, at most for the caller's time. Only one operation gets the success. */
  async function outcome(examined: Examined, entered: Entered, { requester, watch }: Watched): Promise<SettleResult> {
    const { digest, payment, operation } = examined
    const { failed: unknown, used } = examined.reasons
    const deadline = clock.now().getTime() + (requester.waitMs ?? settings.waitMs)
    const payer = payment.payer ?? ''
    let { settlement } = entered
    for (;;) {
      settlement ??= await look(digest)
      const now = clock.now()
      // A seller stores a failure for good, so it is reported only once no reorganization can undo it.
      if (settlement?.state === 'failed' && (requester.retryFailed || isFinalFailure(settlement, now))) {
        const { reason, ours } = settlement
        return { status: 'failed', success: false, payer, txHash: null, reason: reason ?? unknown, ours }
      }
      if (settlement?.state === 'settled' && settlement.txHash !== null) {
        const { txHash } = settlement
        // Nothing is sold for it, so everyone who has the message may hear that it was carried out.
        if (isMessage(operation)) return { status: 'settled', success: true, payer, txHash }
        const until = new Date(now.getTime() + PACE.offerMs)
        const told = await store.offer(digest, requester, now, until)
        if (told === 'given') {
          await deps.failpoints.reach('settlement offered')
          return { status: 'settled', success: true, payer, txHash }
        }
        if (told === 'handed-out') return { status: 'settled', success: false, payer, txHash, reason: used }
      }
      // Also reached while the success is on its way to another caller, because that connection may still break.
      if (now.getTime() >= deadline) return pending(payer, settlement?.txHash ?? null)
      settlement = await watch.next(PACE.lookMs)
    }
  }

  return {
    settle: (payment, requester) =>
      carryOut(payment, examineFor(deps.schemes, payment, { ...requester, step: 'settle' }), requester),
    carryOut,
  }
}

/** What the payment's scheme says of it, where this caller may ask for the scheme at all. */
export function examineFor(
  schemes: Schemes,
  payment: PaymentRequest,
  { step, isExternal = false }: { step: 'verify' | 'settle'; isExternal?: boolean },
): Examined | Reason {
  const scheme = schemes.for(payment)
  return isExternal && !scheme.isOpen ? 'unsupported_scheme' : scheme.examine(payment, step)
}

/** Null when a failed settlement is under way again. It stays failed as long as it would fail once more. */
async function revive(
  deps: FacilitatorDeps,
  examined: Examined,
  { requester, gas, signals }: { requester: SettleRequester; gas: GasWatch; signals: Signals },
): Promise<Reason | null> {
  const simulated = await examined.simulate(requester.retryFailed === true)
  if (simulated.refusal !== null) return simulated.refusal
  await assertGas(deps, gas, examined, requester)
  await deps.store.revive(examined.digest, simulated)
  deps.measures.count('settlement_revived')
  signals.claimed.notify()
  return null
}

/** What was read of a settlement on the way in. Null when it has changed since. */
interface Entered {
  settlement: Settlement | null
}

interface Watched {
  requester: SettleRequester
  watch: Watch
}

const UNREAD: Entered = { settlement: null }

/**
 * Whether what a capture left is being voided, or there is nothing to void. If not, or if this process ends here, the
 * caller repeats the capture and so asks again.
 */
async function isVoidAsked(deps: FacilitatorDeps, { digest, reasons }: Examined, entering: Promise<Entered | Reason>) {
  try {
    return (await entering) !== reasons.taken
  } catch (error) {
    deps.log.warn({ err: error, digest }, 'the rest of a captured payment could not be voided yet')
    return false
  }
}

/** Callers that wait for settlements at the same moment share one query. */
function createLook(store: FacilitatorDeps['store']): (digest: Hex) => Promise<Settlement | null> {
  const looks = new Batch<Hex, { settlement: Settlement | null }>({
    largest: 500,
    async run(digests) {
      const found = await store.find([...new Set(digests)])
      return digests.map((digest) => ({ settlement: found.get(digest) ?? null }))
    },
  })
  return async (digest) => (await looks.add(digest)).settlement
}

/**
 * Decides about a sale whose authorization was unused when the sale claimed it. The authorization's own transfer pays
 * for the sale, from any sender: then the result is null. Only the chain decides; while it cannot be asked, the outcome
 * is unknown.
 */
async function refuseUnlessPaid(
  deps: FacilitatorDeps,
  examined: Examined,
  requester: SettleRequester,
  refusal: Reason,
): Promise<Reason | null> {
  const { store, clock, settings } = deps
  const { digest, authorization, chain, network } = examined
  const { used: usedReason, expired } = examined.reasons
  const uses = examined.scheme.usesOf(chain, examined)
  if (uses === null) return refusal
  const purchase = await store.bought(digest)
  if (purchase?.purchaseId !== requester.operation) return refusal
  const head = await chain.head()
  const seenBlock = blockBefore(head, purchase.boughtAt)
  const { validBefore } = authorization
  // "Unused" is final only after the authorization has expired on the chain, by the clock of more than one node.
  const past = refusal === expired ? validBefore : null
  const agreed = await uses.agreed({ from: seenBlock, past })
  if (!agreed.known) throw networkUnavailable(network.name, 'RPC')
  const { used, use } = agreed
  if (!used && refusal !== usedReason) return refusal
  if (use === null) {
    // The node that has the event lags behind the node that has the state.
    if (refusal === usedReason) throw networkUnavailable(network.name, 'RPC')
    return refusal
  }
  if (!isPaidBy(use, { authorization })) return usedReason
  const claim = { payerHasCode: false, alone: false, gas: 0n, seenBlock, caller: null, now: clock.now() }
  const settlement = await store.claim(claimOf(examined, claim))
  if (settlement === null) return usedReason
  const final = isConfirmed(use.blockNumber, head.number, settings.confirmations)
  await store.settledElsewhere(settlement, use, final, clock.now())
  deps.measures.count('settlement_by_others')
  return null
}

async function assertGas(
  deps: FacilitatorDeps,
  gas: GasWatch,
  examined: Examined,
  requester: SettleRequester,
): Promise<void> {
  const { store, clock, settings } = deps
  const { network, authorization, operation } = examined
  // Claims nothing that cannot be sent. Only its operator sends an operation.
  const pays = await gas.pays(network.name)
  if (!pays || (operation !== null && gas.isEmpty(network.name, operation.operator))) {
    deps.log.error({ network: network.name }, 'no sponsor can pay the gas; nothing is settled')
    throw outOfGas(network.name)
  }
  const { gasPerDay, gasPerPayerDay, gasPerRecipientDay, gasPerCallerDay, gasReserve } = settings
  const budgets = [gasPerDay, gasPerPayerDay, gasPerRecipientDay, gasPerCallerDay]
  if (budgets.every((budget) => budget === null)) return
  const now = clock.now()
  // The seller asks for captures and voids, so they do not count for the payer. What this service pays itself is bounded
  // by the network's budget alone: all accounts share its treasury.
  const payer = isMessage(operation) || requester.retryFailed === true ? null : authorization.from
  const recipient = operation?.recipient ?? authorization.to
  const used = await store.gasUsed(network.name, { payer, recipient, caller: callerOf(requester) }, now)
  const ours = requester.isExternal !== true
  const over = overBudget(used, gas.priceOf(network.name), {
    network: gasPerDay === null || ours ? gasPerDay : (gasPerDay * BigInt(100 - gasReserve)) / 100n,
    payer: payer === null ? null : gasPerPayerDay,
    // Our own sales are paid to us, so only the network's daily budget limits them.
    recipient: ours ? null : gasPerRecipientDay,
    caller: ours ? null : gasPerCallerDay,
  })
  if (over !== null) throw gasSpent(network.name, over, secondsUntilTomorrow(now))
}

function callerOf({ isExternal, caller }: SettleRequester): string | null {
  return isExternal === true ? (caller ?? null) : null
}

function claimOf(
  { digest, network, authorization, operation }: Examined,
  claimed: Pick<Claim, 'payerHasCode' | 'alone' | 'gas' | 'seenBlock' | 'caller' | 'now'>,
): Claim {
  const asset = network.usdc.address
  return { digest, network: network.name, asset, authorization, operation, ...claimed }
}

/** Checks a repeated request: the terms and the payer's signature, but neither the clock nor the chain. */
function refuseKnown(
  { authorization, signed, operation, reasons, mismatch }: Examined,
  known: Settlement,
): Reason | null {
  // The same signature cannot pay by two schemes.
  if (operation?.type !== known.operation?.type) return reasons.used
  if (!signed && authorization.signature !== known.authorization.signature) return reasons.signature
  // What is taken is said once.
  return authorization.value === known.authorization.value ? mismatch : reasons.taken
}

/**
 * A seller's message may be tried again once its transaction is final: on chain, nothing else would stop a second
 * capture.
 */
function mayRevive({ reasons }: Examined, known: Settlement, { retryFailed }: SettleRequester): boolean {
  return isMendable(known, reasons) && (retryFailed === true || (isMessage(known.operation) && known.final))
}

/** A success that needs no transaction: of what the payer permitted nothing was used. */
async function nothingToMove({ payment, simulate }: Examined): Promise<SettleResult> {
  const { refusal } = await simulate(false)
  if (refusal !== null) return failed(payment, refusal)
  return { status: 'settled', success: true, payer: payment.payer ?? '', txHash: null }
}

function pending(payer: string, txHash: Hex | null): SettleResult {
  return { status: 'pending', success: false, payer, txHash, reason: 'settlement_pending' }
}

function failed(payment: PaymentRequest, reason: Reason): SettleResult {
  return { status: 'failed', success: false, payer: payment.payer, txHash: null, reason, ours: false }
}
