import type { Hex } from '../../chain/model.ts'
import { Batch } from '../../kit/batch.ts'
import { gasSpent, networkUnavailable, outOfGas } from '../errors.ts'
import type { GasWatch } from './gas.ts'
import type { SettleResult, SettleRequester, Settlement } from '../model.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import {
  blockBefore,
  isFinalFailure,
  isMendable,
  isPaidBy,
  overBudget,
  refuseMatch,
  secondsUntilTomorrow,
} from '../rules.ts'
import type { Signals } from './signal.ts'
import { examine, simulate, type Examined } from './checks.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'

export interface Settling {
  settle(payment: PaymentRequest, requester: SettleRequester): Promise<SettleResult & { digest: Hex | null }>
}

/** From a payment to an answer. The transaction itself is made by whichever process holds a sponsor. */
export function createSettling(deps: FacilitatorDeps, gas: GasWatch, signals: Signals): Settling {
  const { store, clock, settings } = deps
  const look = createLook(store)

  async function settle(payment: PaymentRequest, requester: SettleRequester) {
    const examined = examine(deps, payment)
    if (typeof examined === 'string') return { ...failed(payment, examined), digest: null }
    const { digest } = examined
    const refusal = await enter(examined, requester)
    if (refusal !== null) return { ...failed(payment, refusal), digest }
    return { ...(await outcome(examined, requester)), digest }
  }

  /** Null when it is claimed, now or before. */
  async function enter(examined: Examined, requester: SettleRequester): Promise<Reason | null> {
    const known = await look(examined.digest)
    if (known !== null) {
      const refusal = refuseKnown(examined, known)
      return refusal === null && requester.retryFailed && isMendable(known)
        ? await revive(examined, requester)
        : refusal
    }
    const refusal = await claim(examined, requester)
    if (refusal === null) return null
    // Somebody may have claimed and settled it since the first look: then the chain refuses that very settlement.
    const since = await look(examined.digest)
    return since === null ? refusal : refuseKnown(examined, since)
  }

  /** Null when it was claimed. What is refused before that leaves no trace. */
  async function claim(examined: Examined, requester: SettleRequester): Promise<Reason | null> {
    const { digest, network, authorization, chain } = examined
    // The block is read first: whoever uses the nonce after the simulation does it in a later one.
    const { number: seenBlock } = await chain.head()
    const simulated = await simulate(deps, examined, requester.retryFailed)
    if (simulated.refusal !== null) {
      const refusal = await refuseUnlessPaid(deps, examined, requester, simulated.refusal)
      if (refusal === null) signals.ended.notify()
      return refusal
    }
    await assertGas(deps, gas, examined, requester)
    const { payerHasCode } = simulated
    const asset = network.usdc.address
    const { name } = network
    const claim = {
      digest,
      network: name,
      asset,
      authorization,
      payerHasCode,
      gas: simulated.gas,
      seenBlock,
      caller: callerOf(requester),
      now: clock.now(),
    }
    if ((await store.claim(claim)) === null) return 'invalid_exact_evm_nonce_already_used'
    await deps.failpoints.reach('settlement claimed')
    signals.claimed.notify()
    return null
  }

  /** Null when what failed is under way again. As long as it would fail once more, it stays what it is. */
  async function revive(examined: Examined, requester: SettleRequester): Promise<Reason | null> {
    const simulated = await simulate(deps, examined, true)
    if (simulated.refusal !== null) return simulated.refusal
    await assertGas(deps, gas, examined, requester)
    await store.revive(examined.digest, simulated)
    deps.measures.count('settlement_revived')
    signals.claimed.notify()
    return null
  }

  /** Waits for the end, at most its time; a success is told to one. */
  async function outcome({ digest, payment }: Examined, requester: SettleRequester): Promise<SettleResult> {
    const deadline = clock.now().getTime() + (requester.waitMs ?? settings.waitMs)
    const payer = payment.payer ?? ''
    for (;;) {
      const settlement = await look(digest)
      const now = clock.now()
      // A seller writes a failure down for good, so it is reported only once no reorganization can undo it.
      if (settlement?.state === 'failed' && (requester.retryFailed || isFinalFailure(settlement, now))) {
        const { reason, ours } = settlement
        return { status: 'failed', success: false, payer, txHash: null, reason: reason ?? UNKNOWN, ours }
      }
      if (settlement?.state === 'settled' && settlement.txHash !== null) {
        const { txHash } = settlement
        const until = new Date(now.getTime() + PACE.offerMs)
        const told = await store.offer(digest, requester, now, until)
        if (told === 'given') {
          await deps.failpoints.reach('settlement offered')
          return { status: 'settled', success: true, payer, txHash }
        }
        if (told === 'handed-out') return { status: 'settled', success: false, payer, txHash, reason: USED }
      }
      // Also while somebody else is being told: their connection may break yet.
      if (now.getTime() >= deadline) {
        return {
          status: 'pending',
          success: false,
          payer,
          txHash: settlement?.txHash ?? null,
          reason: 'settlement_pending',
        }
      }
      await signals.ended.wait(PACE.lookMs)
    }
  }

  return { settle }
}

/** Those who wait for one moment's settlements look together. */
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
 * A sale that claimed its authorization while it was unused is paid by its very transfer, whoever submitted it. Null
 * where that is so; what the chain shows decides, and without it nothing is known yet.
 */
async function refuseUnlessPaid(
  deps: FacilitatorDeps,
  examined: Examined,
  requester: SettleRequester,
  refusal: Reason,
): Promise<Reason | null> {
  const { store, clock, settings } = deps
  const { digest, authorization, chain, network } = examined
  const purchase = await store.bought(digest)
  if (purchase?.purchaseId !== requester.operation) return refusal
  const head = await chain.head()
  const seenBlock = blockBefore(head, purchase.boughtAt)
  const { from: payer, nonce, validBefore } = authorization
  // That nobody has used it is final only once its time is over on the chain, by more than one node's clock.
  const past = refusal === EXPIRED ? validBefore : null
  const agreed = await chain.agreedUse({ payer, nonce, from: seenBlock, past })
  if (!agreed.known) throw networkUnavailable(network.name, 'RPC')
  const { used, use } = agreed
  if (!used && refusal !== USED) return refusal
  if (use === null) {
    // The node that knows the event lags behind the one that knows the state.
    if (refusal === USED) throw networkUnavailable(network.name, 'RPC')
    return refusal
  }
  if (!isPaidBy(use, { authorization })) return USED
  const asset = network.usdc.address
  const claim = {
    digest,
    network: network.name,
    asset,
    authorization,
    payerHasCode: false,
    gas: 0n,
    seenBlock,
    caller: null,
  }
  const settlement = await store.claim({ ...claim, now: clock.now() })
  if (settlement === null) return USED
  const final = head.number - use.blockNumber + 1n >= BigInt(settings.confirmations)
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
  const { network, authorization } = examined
  // Nothing is claimed that cannot be sent.
  if (!(await gas.pays(network.name))) {
    deps.log.error({ network: network.name }, 'no sponsor can pay the gas; nothing is settled')
    throw outOfGas(network.name)
  }
  const { gasPerDay, gasPerPayerDay, gasPerRecipientDay, gasPerCallerDay, gasReserve } = settings
  const budgets = [gasPerDay, gasPerPayerDay, gasPerRecipientDay, gasPerCallerDay]
  if (budgets.every((budget) => budget === null)) return
  const now = clock.now()
  const { from, to } = authorization
  const used = await store.gasUsed(network.name, { payer: from, recipient: to, caller: callerOf(requester) }, now)
  const ours = requester.isExternal !== true
  const over = overBudget(used, gas.priceOf(network.name), {
    network: gasPerDay === null || ours ? gasPerDay : (gasPerDay * BigInt(100 - gasReserve)) / 100n,
    payer: gasPerPayerDay,
    // The house is the recipient of its own sales, and bounded by the network's day alone.
    recipient: ours ? null : gasPerRecipientDay,
    caller: ours ? null : gasPerCallerDay,
  })
  if (over !== null) throw gasSpent(network.name, over, secondsUntilTomorrow(now))
}

function callerOf({ isExternal, caller }: SettleRequester): string | null {
  return isExternal === true ? (caller ?? null) : null
}

const USED = 'invalid_exact_evm_nonce_already_used'
const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before'
const UNKNOWN = 'invalid_exact_evm_transaction_failed'

/** Somebody who asks again: the same terms and the payer's signature, but neither the clock nor the chain. */
function refuseKnown({ payment, authorization, signed }: Examined, known: Settlement): Reason | null {
  if (!signed && authorization.signature !== known.authorization.signature) return 'invalid_exact_evm_signature'
  return refuseMatch(payment)
}

function failed(payment: PaymentRequest, reason: Reason): SettleResult {
  return { status: 'failed', success: false, payer: payment.payer, txHash: null, reason, ours: false }
}
