import type { Hex } from '../../chain/model.ts'
import { Batch } from '../../kit/batch.ts'
import { gasSpent } from '../errors.ts'
import type { Answer, Asker, Payment, Reason, Settlement } from '../model.ts'
import { isMendable, refuseMatch, secondsUntilTomorrow } from '../rules.ts'
import type { Bell } from './bell.ts'
import { examine, simulate, type Examined } from './examine.ts'
import { PACE, type FacilitatorParts } from './parts.ts'

export interface Settling {
  settle(payment: Payment, asker: Asker): Promise<Answer & { digest: Hex | null }>
}

/** From a payment to an answer. The transaction itself is made by whichever process holds a sponsor. */
export function createSettling(parts: FacilitatorParts, bells: { claimed: Bell; ended: Bell }): Settling {
  const { store, clock, settings } = parts
  const looks = new Batch<Hex, { settlement: Settlement | null }>({
    lanes: 1,
    largest: 500,
    laneOf: () => 0,
    async run(digests) {
      const found = await store.find([...new Set(digests)])
      return digests.map((digest) => ({ settlement: found.get(digest) ?? null }))
    },
  })
  const look = async (digest: Hex): Promise<Settlement | null> => (await looks.add(digest)).settlement

  async function settle(payment: Payment, asker: Asker): Promise<Answer & { digest: Hex | null }> {
    const examined = examine(parts, payment)
    if (typeof examined === 'string') return { ...failed(payment, examined), digest: null }
    const { digest } = examined
    const refusal = await enter(examined, asker)
    if (refusal !== null) return { ...failed(payment, refusal), digest }
    return { ...(await outcome(examined, asker)), digest }
  }

  /** Null when it is claimed, now or before. */
  async function enter(examined: Examined, asker: Asker): Promise<Reason | null> {
    const known = await look(examined.digest)
    if (known !== null) {
      const refusal = refuseKnown(examined, known)
      return refusal === null && asker.again && isMendable(known) ? await revive(examined) : refusal
    }
    const refusal = await claim(examined)
    if (refusal === null) return null
    // Somebody may have claimed and settled it since the first look: then the chain refuses that very settlement.
    const since = await look(examined.digest)
    return since === null ? refusal : refuseKnown(examined, since)
  }

  /** Null when it was claimed. What is refused before that leaves no trace. */
  async function claim(examined: Examined): Promise<Reason | null> {
    const { digest, network, authorization, chain } = examined
    // The block is read first: whoever uses the nonce after the simulation does it in a later one.
    const { number: seenBlock } = await chain.head()
    const simulated = await simulate(parts, examined)
    if (simulated.refusal !== null) return simulated.refusal
    await assertGas(examined)
    const { payerHasCode, gas } = simulated
    const asset = network.usdc.address
    const { name } = network
    const claim = { digest, network: name, asset, authorization, payerHasCode, gas, seenBlock, now: clock.now() }
    if ((await store.claim(claim)) === null) return 'invalid_exact_evm_nonce_already_used'
    await parts.checkpoint('claimed')
    bells.claimed.ring()
    return null
  }

  /** Null when what failed is under way again. As long as it would fail once more, it stays what it is. */
  async function revive(examined: Examined): Promise<Reason | null> {
    const simulated = await simulate(parts, examined)
    if (simulated.refusal !== null) return simulated.refusal
    await assertGas(examined)
    await store.revive(examined.digest, simulated)
    parts.measures.count('settlement_revived')
    bells.claimed.ring()
    return null
  }

  async function assertGas({ network, authorization }: Examined): Promise<void> {
    const { gasPerDay, gasPerPayerDay } = settings
    if (gasPerDay === null && gasPerPayerDay === null) return
    const now = clock.now()
    const spent = await store.gasSpent(network.name, authorization.from, now)
    const over = (budget: bigint | null, used: bigint): boolean => budget !== null && used >= budget
    if (over(gasPerDay, spent.network)) throw gasSpent(network.name, 'network', secondsUntilTomorrow(now))
    if (over(gasPerPayerDay, spent.payer)) throw gasSpent(network.name, 'payer', secondsUntilTomorrow(now))
  }

  /** Waits for the end, at most its time; a success is told to one. */
  async function outcome({ digest, payment }: Examined, asker: Asker): Promise<Answer> {
    const deadline = clock.now().getTime() + (asker.waitMs ?? settings.waitMs)
    const payer = payment.payer ?? ''
    for (;;) {
      const settlement = await look(digest)
      const now = clock.now()
      if (settlement?.state === 'failed') {
        const { reason, ours } = settlement
        return { status: 'failed', success: false, payer, txHash: null, reason: reason ?? UNKNOWN, ours }
      }
      if (settlement?.state === 'settled' && settlement.txHash !== null) {
        const { txHash } = settlement
        const until = new Date(now.getTime() + PACE.offerMs)
        const told = await store.offer(digest, asker.operation, asker.keeps, now, until)
        if (told === 'given') {
          await parts.checkpoint('offered')
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
      await bells.ended.wait(PACE.lookMs)
    }
  }

  return { settle }
}

const USED = 'invalid_exact_evm_nonce_already_used'
const UNKNOWN = 'invalid_exact_evm_transaction_failed'

/** Somebody who asks again: the same terms and the payer's signature, but neither the clock nor the chain. */
function refuseKnown({ payment, authorization, signed }: Examined, known: Settlement): Reason | null {
  if (!signed && authorization.signature !== known.authorization.signature) return 'invalid_exact_evm_signature'
  return refuseMatch(payment)
}

function failed(payment: Payment, reason: Reason): Answer {
  return { status: 'failed', success: false, payer: payment.payer, txHash: null, reason, ours: false }
}
