import { largest } from '../kit/money.ts'
import type { Receipt, Use } from '../chain/model.ts'
import { givenUpAfter } from '../chain/networks.ts'
import type { GasShares, GasUsed, Operation, Reasons, Settlement, SponsorTransaction } from './model.ts'

/** As in the reference implementation: the time of three blocks until the transfer is mined. */
export const MARGIN_SECONDS = 6n

/**
 * The first item's gas: a transaction's own cost and its calldata. For each further item: its calldata and its place in
 * Multicall3's loop. A signature of 65 bytes is included in both.
 */
export const CALL_GAS = 40_000n
const ITEM_GAS = 16_000n

/** A third above the simulated gas: a storage slot may be cold by then, and unused gas is not paid. */
export function gasLimit(items: readonly Pick<Settlement, 'gas'>[]): bigint {
  return items.reduce((sum, { gas }) => sum + (gas * 4n) / 3n + ITEM_GAS, CALL_GAS)
}

/** The day's budget that is spent, counting open settlements at today's price. Null while there is room. */
export function overBudget(
  { spent, pending }: GasUsed,
  price: bigint,
  budgets: Readonly<Record<keyof GasShares, bigint | null>>,
): keyof GasShares | null {
  const over = (of: keyof GasShares): boolean => {
    const budget = budgets[of]
    return budget !== null && spent[of] + pending[of] * price >= budget
  }
  return (['network', 'payer', 'recipient', 'caller'] as const).find(over) ?? null
}

/** Whether a sponsor's balance pays for one transfer at today's price. */
export function paysForOne(wei: bigint, { maxFeePerGas }: { maxFeePerGas: bigint }): boolean {
  return wei >= TRANSFER_GAS * maxFeePerGas
}

const TRANSFER_GAS = 150_000n

/**
 * Batches the items of plain accounts, at most `largest` in each. An item marked `alone` gets a transaction of its own.
 * Groups come in the order of their first items: many that are alone keep no batch waiting.
 */
export function plan<Item extends Pick<Settlement, 'alone'>>(items: readonly Item[], largest: number): Item[][] {
  const together = items.filter(({ alone }) => !alone)
  const groups = items.filter(({ alone }) => alone).map((item) => [item])
  // Batches of equal size, so that there is no full batch followed by a batch of one.
  const batches = Math.ceil(together.length / largest)
  const size = Math.ceil(together.length / Math.max(1, batches))
  for (let at = 0; at < together.length; at += size) groups.push(together.slice(at, at + size))
  const places = new Map(items.map((item, place) => [item, place]))
  const placeOf = ([first]: readonly Item[]): number => (first === undefined ? 0 : (places.get(first) ?? 0))
  return groups.sort((one, other) => placeOf(one) - placeOf(other))
}

/**
 * How long until a transaction is looked for again. An instant chain has it in a moment, and a question costs little
 * beside the wait for a slow one: half of its age until then, so the answer is never late by more than that.
 */
export function lookAgainMs(ageMs: number, most: number): number {
  return Math.min(Math.max(ageMs / 2, LOOK_MS_MIN), most)
}

const LOOK_MS_MIN = 1

/**
 * How long a worker with nothing under way still waits for more claims, before it sends those it has. 0 when it sends
 * now: the batch is full, or none that is being checked may join it and there are as many as last time. So a single
 * claim never waits, and callers that come back together go together again.
 */
export function gatherMs(
  seen: { claims: number; arriving: number; takenLast: number; quietMs: number; waitedMs: number },
  pace: { batchMax: number; gatherMs: number; quietMs: number },
): number {
  const { claims, arriving, takenLast, quietMs, waitedMs } = seen
  const leftMs = pace.gatherMs - waitedMs
  if (claims === 0 || claims >= pace.batchMax || leftMs <= 0) return 0
  if (arriving > 0) return leftMs
  return claims >= takenLast ? 0 : Math.max(0, Math.min(leftMs, pace.quietMs - quietMs))
}

/** Whether a seller asks for it, and no authorization moves with it. */
export function isMessage(operation: Pick<Operation, 'type'> | null): boolean {
  return operation?.type === 'capture' || operation?.type === 'void'
}

/** Whether this transaction moved this authorization's money. */
export function isMoved({ authorization }: Pick<Settlement, 'authorization'>, receipt: Receipt): boolean {
  const { from, to, value, nonce } = authorization
  const used = receipt.used.find((event) => event.authorizer === from && event.nonce === nonce)
  if (receipt.status !== 'success' || used === undefined) return false
  // USDC logs the use first and its transfer right after.
  const transfer = receipt.transfers.find(({ logIndex }) => logIndex > used.logIndex)
  return transfer?.from === from && transfer.to === to && transfer.value === value
}

/** Whether another party's use of the nonce made exactly this payment. */
export function isPaidBy(use: Use, { authorization }: Pick<Settlement, 'authorization'>): boolean {
  const { from, to, value } = authorization
  return !use.cancelled && use.transfer?.from === from && use.transfer.to === to && use.transfer.value === value
}

/** Whether the USDC contract will not accept the authorization any more, from any sender. */
export function isOver(settlement: Settlement, blockSeconds: bigint): boolean {
  return settlement.authorization.validBefore <= blockSeconds
}

/**
 * A failure is final when its transaction is final, or when the authorization has expired on any chain that may still
 * replace this one. Before that, a reorganization may remove the cause of the failure, and the same transaction then
 * moves the money.
 */
export function isFinalFailure(
  { final, authorization }: Pick<Settlement, 'final' | 'authorization'>,
  now: Date,
): boolean {
  return final || BigInt(Math.floor(now.getTime() / 1000)) > givenUpAfter(authorization.validBefore)
}

/** Whether the failure's cause may go away with time. The number of attempts is limited, since each one costs gas. */
export function isMendable(
  { state, reason, attempts }: Pick<Settlement, 'state' | 'reason' | 'attempts'>,
  { mendable }: Pick<Reasons, 'mendable'>,
): boolean {
  return state === 'failed' && reason !== null && mendable.has(reason) && attempts < ATTEMPTS_MAX
}

const ATTEMPTS_MAX = 10

/** A replacement must raise both fees by an eighth. Raising them by a quarter avoids a second round. */
export function bumpFees(
  sent: Pick<SponsorTransaction, 'maxFee' | 'priorityFee'>,
  today: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
): { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } {
  const raised = (fee: bigint): bigint => fee + fee / 4n + 1n
  return {
    maxFeePerGas: largest(raised(sent.maxFee), today.maxFeePerGas),
    maxPriorityFeePerGas: largest(raised(sent.priorityFee), today.maxPriorityFeePerGas),
  }
}

/** Whether it only uses up its nonce: a transfer of nothing to the sponsor itself. */
export function isNothing({ target, sponsor }: Pick<SponsorTransaction, 'target' | 'sponsor'>): boolean {
  return target === sponsor
}

/** The nonces below the lowest open one that were never signed. All later transactions wait for them. */
export function gaps(chainNonce: number, known: readonly number[]): number[] {
  const lowest = Math.min(...known)
  if (known.length === 0 || chainNonce >= lowest) return []
  return Array.from({ length: lowest - chainNonce }, (_, step) => chainNonce + step)
}

/** Each item of a batch bears an equal part. The first one also bears the remainder. */
export function shareCost(cost: bigint, of: number): bigint[] {
  const share = cost / BigInt(of)
  return Array.from({ length: of }, (_, place) => (place === 0 ? cost - share * BigInt(of - 1) : share))
}

export function secondsUntilTomorrow(now: Date): number {
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return Math.ceil((tomorrow - now.getTime()) / 1000)
}
