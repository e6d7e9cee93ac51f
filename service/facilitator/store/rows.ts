import { toHex, type RowOf } from '../../kit/rows.ts'
import type { Operation, Settlement, SponsorTransaction } from '../model.ts'

export interface SettlementRow extends RowOf<Omit<Settlement, 'authorization' | 'operation' | 'digest' | 'txHash'>> {
  digest: Buffer
  payer: Buffer
  nonce: Buffer
  pay_to: Buffer
  value: string
  valid_after: string
  valid_before: string
  signature: Buffer
  tx_hash: Buffer | null
  operation: Operation['type'] | null
  operator: Buffer | null
  payment_hash: Buffer | null
  recipient: Buffer | null
  call_data: Buffer | null
  authorizer: Buffer | null
}

export const SETTLEMENT = `s.digest, s.network, s.payer, s.nonce, s.pay_to, s.value, s.valid_after, s.valid_before,
  s.signature, s.payer_has_code, s.alone, s.gas, s.seen_block, s.state, s.attempts, s.transaction_id, s.tx_hash, s.block_number,
  s.external, s.final, s.reason, s.ours, s.claimed_at, s.ended_at, s.offered_to, s.handed_out_at,
  s.operation, s.operator, s.payment_hash, s.recipient, s.call_data, s.authorizer`

/**
 * A condition of a statement whose commit need not be on disk when it returns. The order of the log makes it durable
 * with the next commit that is. Only for what a crash of the database may take back: what the chain still has, or what
 * nothing was answered for.
 */
export const COMMITTED_SOON = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"

export function fromSettlementRow(row: SettlementRow): Settlement {
  return {
    digest: toHex(row.digest),
    network: row.network,
    authorization: {
      from: toHex(row.payer),
      to: toHex(row.pay_to),
      value: BigInt(row.value),
      validAfter: BigInt(row.valid_after),
      validBefore: BigInt(row.valid_before),
      nonce: toHex(row.nonce),
      signature: toHex(row.signature),
    },
    operation: fromOperationRow(row),
    payerHasCode: row.payer_has_code,
    alone: row.alone,
    gas: row.gas,
    seenBlock: row.seen_block,
    state: row.state,
    attempts: row.attempts,
    transactionId: row.transaction_id,
    txHash: row.tx_hash === null ? null : toHex(row.tx_hash),
    blockNumber: row.block_number,
    external: row.external,
    final: row.final,
    reason: row.reason,
    ours: row.ours,
    claimedAt: row.claimed_at,
    endedAt: row.ended_at,
    offeredTo: row.offered_to,
    handedOutAt: row.handed_out_at,
  }
}

function fromOperationRow(row: SettlementRow): Operation | null {
  const { operation: type, operator, payment_hash: paymentHash, recipient, call_data: data } = row
  if (type === null || operator === null || paymentHash === null || recipient === null || data === null) return null
  return {
    type,
    operator: toHex(operator),
    paymentHash: toHex(paymentHash),
    recipient: toHex(recipient),
    data: toHex(data),
    authorizer: row.authorizer === null ? null : toHex(row.authorizer),
  }
}

type StoredAsItIs = 'id' | 'network' | 'state' | 'gas' | 'bumps' | 'signedAt' | 'sentAt' | 'blockNumber'

export interface TransactionRow extends RowOf<Pick<SponsorTransaction, StoredAsItIs>> {
  sponsor: Buffer
  nonce: bigint
  target: Buffer
  data: Buffer
  max_fee: string
  priority_fee: string
  hash: Buffer
  raw: Buffer
  block_hash: Buffer | null
  hashes: Buffer[]
}

export function fromTransactionRow(row: TransactionRow): SponsorTransaction {
  const hash = toHex(row.hash)
  return {
    id: row.id,
    network: row.network,
    sponsor: toHex(row.sponsor),
    nonce: Number(row.nonce),
    state: row.state,
    target: toHex(row.target),
    data: toHex(row.data),
    gas: row.gas,
    maxFee: BigInt(row.max_fee),
    priorityFee: BigInt(row.priority_fee),
    hash,
    raw: toHex(row.raw),
    bumps: row.bumps,
    signedAt: row.signed_at,
    sentAt: row.sent_at,
    blockNumber: row.block_number,
    blockHash: row.block_hash === null ? null : toHex(row.block_hash),
    hashes: [hash, ...row.hashes.map(toHex).filter((other) => other !== hash)],
  }
}
