import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import type { Address, Authorization, Hex, Receipt } from '../chain/model.ts'
import { depthOf, type NetworkName } from '../chain/networks.ts'
import { KEY_MS } from '../kit/ids.ts'
import { sum, toDecimal, toWire, usdc, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Line } from '../ledger/model.ts'
import { keyedNonce, nonceOf } from '../transfers/model.ts'
import { alreadyRecorded, belowMinimum, notProven } from './errors.ts'
import type { Reconciliation, Transaction, Transfer, Withdrawal } from './model.ts'

/** Hashes are compared in lower case, because letter case does not make another transaction. */
export function canonicalHash(transactionHash: string): string {
  return transactionHash.toLowerCase()
}

/** The type of a ledger entry as the wallet's owner sees it. `sold` has the transactions that paid for sales. */
export function typeOf(
  line: Pick<Line, 'movementId' | 'kind' | 'side' | 'reference'>,
  sold: ReadonlySet<string>,
): Transaction['type'] {
  switch (line.kind) {
    case 'deposit':
      return line.reference !== null && sold.has(line.reference) ? 'sale' : 'deposit'
    case 'grant':
      return 'deposit'
    case 'payout':
      return line.movementId.startsWith('rfd_') ? 'refund' : 'withdrawal'
    case 'capture':
      if (line.side === 'receiver' && line.movementId.startsWith('pay_')) return 'sale'
      return line.side === 'payer' ? 'charge' : 'earning'
    case 'transfer':
      return line.side === 'payer' ? 'charge' : 'earning'
  }
}

/** The transfers in a transaction. Transfers of 0 are not deposits. */
export function transfersOf(network: NetworkName, receipt: Receipt): Transfer[] {
  if (receipt.status !== 'success') return []
  const { hash: transactionHash, blockNumber, blockHash } = receipt
  return receipt.transfers.flatMap(({ from, to, value }, place) =>
    value > 0n && value <= LARGEST_ROW
      ? [{ network, transactionHash, place, from, to, value, blockNumber, blockHash }]
      : [],
  )
}

/** The largest value of a database column. A thousandth of it exists as USDC. */
const LARGEST_ROW = 9_223_372_036_854_775_807n

export interface Claim {
  /** As the caller wrote it. */
  transactionHash: string
  amount: Usdc
  /** The wallet's address. */
  to: string
  /** The same address with its checksum. */
  written: string
  network: NetworkName
}

/**
 * The transfers of the transaction that make up this deposit: one of exactly the amount, or all of them together.
 * Transfers that are already recorded do not count. If only such transfers went to the wallet, the transaction is
 * already recorded.
 */
export function provenTransfers(
  claim: Claim,
  receipt: Receipt | null,
  recorded: readonly Transfer[],
  { head, confirmations }: { head: bigint; confirmations: number },
): Transfer[] {
  const { amount, to, written, network, transactionHash } = claim
  const refuse = (code: ErrorCode, sentence: string, fields: Readonly<Record<string, unknown>> = {}) =>
    notProven(code, { transactionHash: sentence }, fields)
  if (receipt === null) throw refuse('transaction_not_found', `is not in a block of ${network}`)
  if (receipt.status !== 'success') throw refuse('transaction_failed', 'was reverted: no money moved')
  const all = transfersOf(network, receipt)
  if (all.length === 0) throw refuse('no_usdc_transfer', `moved no USDC on ${network}`)
  const own = all.filter((transfer) => transfer.to === to)
  const fresh = own.filter(({ place }) => !recorded.some((known) => known.place === place))
  if (fresh.length === 0 && recorded.length > 0) throw alreadyRecorded(transactionHash)
  if (own.length === 0) throw refuse('wrong_recipient', `moved no USDC to this wallet's address, ${written}`)
  const depth = depthOf(receipt.blockNumber, head)
  if (depth < BigInt(confirmations)) {
    throw refuse(
      'not_confirmed_yet',
      `has ${String(depth)} of ${confirmations} confirmations; try again in a few seconds`,
      {
        confirmations: Number(depth),
        required: confirmations,
      },
    )
  }
  const exact = fresh.find(({ value }) => value === amount)
  if (exact !== undefined) return [exact]
  const together = sum(fresh.map(({ value }) => usdc(value)))
  if (together === amount) return fresh
  throw notProven('amount_mismatch', {
    amount: `must be ${toDecimal(together)}, what the transaction moved to this wallet`,
  })
}

const DAY_MS = 86_400_000

export const PAYOUT = {
  /** How long a withdrawal waits for the treasury before it fails. */
  pendingMs: DAY_MS,
  /** How long its authorization is valid, and so the longest time until it fails. */
  validSeconds: 3_600,
} as const

export const COLLECT = {
  validSeconds: 600,
  /** The most addresses in one turn, and at once. */
  most: 200,
  atOnce: 8,
} as const

/** Derived from the id alone, so paying the same withdrawal again uses the same nonce. */
export function payoutNonce(id: string): Hex {
  return nonceOf('withdrawal', id)
}

/** What names a withdrawal that was asked for with an `Idempotency-Key`. */
export interface KeyedTerms {
  keyHash: Buffer
  to: Address
  amount: Usdc
}

export function withdrawalNonce({ keyHash, to, amount }: KeyedTerms, turn: number): Hex {
  return keyedNonce('withdrawal', [keyHash.toString('hex'), to.toLowerCase(), String(amount)], turn)
}

/**
 * Whether the operator has booked the transfer of what this account asks for by its key: such a row began and ended in one transaction.
 * For as long as a key is known it is that withdrawal; one that was booked on another account, or as a loss, always is.
 */
export function isBookedFor(
  { userId }: Pick<Owner, 'userId'>,
  { owner, createdAt, endedAt }: Pick<Withdrawal, 'owner' | 'createdAt' | 'endedAt'>,
  now: Date,
): boolean {
  const isRecent = now.getTime() - createdAt.getTime() <= KEY_MS
  return endedAt?.getTime() === createdAt.getTime() && (isRecent || owner.userId !== userId)
}

export function authorizationOf(
  to: { to: Address; amount: bigint; nonce: Hex },
  terms: { payer: Address; validBefore: bigint },
): Authorization {
  const { payer: from, validBefore } = terms
  return { from, to: to.to, value: to.amount, validAfter: 0n, validBefore, nonce: to.nonce }
}

/** A minimum, because the server pays the gas of each withdrawal. */
export function assertMinimum(amount: Usdc, minimum: Usdc): void {
  if (amount < minimum) throw belowMinimum(minimum)
}

/** The money on chain and in transit, less the money in the books. */
export function differenceOf(sums: Omit<Reconciliation, 'network' | 'blockNumber' | 'at' | 'difference'>): bigint {
  const { wallets, revenue, capital, treasury, depositAddresses, payers, inFlight } = sums
  return treasury + depositAddresses + payers + inFlight - wallets - revenue - capital
}

/** The event for an owner's endpoints when their balance is low. */
export function lowBalanceOf({
  available,
  below,
  topUpUrl,
}: {
  available: Usdc
  below: Usdc
  topUpUrl: string | null
}) {
  return { available: toWire(available), below: toWire(below), topUpUrl }
}

/** An owner is notified once while the balance is low, and again only after it has recovered. */
export function alertChange(alert: { below: Usdc; alertedAt: Date | null }, available: Usdc): 'alert' | 'rest' | null {
  const low = available < alert.below
  if (low === (alert.alertedAt !== null)) return null
  return low ? 'alert' : 'rest'
}
