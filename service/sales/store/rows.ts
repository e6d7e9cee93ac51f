import { isId } from '../../kit/ids.ts'
import { toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import { rightOf, type PaymentMethod, type Sale } from '../model.ts'

export type SaleRow = RowOf<Omit<Sale, 'digest' | 'method'>> & { digest: Buffer | null; method: Sale['method'] | null }

export function fromSaleRow(row: SaleRow): Sale {
  return {
    id: row.id,
    product: row.product,
    subject: row.subject,
    userId: row.user_id,
    environment: row.environment,
    state: row.state,
    handover: row.handover,
    amount: row.amount,
    network: row.network,
    recipient: row.recipient,
    payer: row.payer,
    ...methodOfRow(row),
    simulated: row.simulated,
    digest: row.digest === null ? null : toHex(row.digest),
    request: row.request,
    inputHash: row.input_hash,
    bodyHash: row.body_hash,
    tokenHash: row.token_hash,
    identifier: row.identifier,
    resource: row.resource,
    details: row.details,
    txHash: row.tx_hash,
    reason: row.reason,
    result: row.result,
    escrow: row.escrow,
    leaseUntil: row.lease_until,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    owedUntil: row.owed_until,
    refunded: row.refunded,
    refundWindowDays: row.refund_window_days,
  }
}

/** A row from before methods were stored, or of a process of that version, says in other columns how it was begun. */
export function methodOfRow(row: MethodRow): PaymentMethod {
  const { method, facilitator } = row
  if (method !== null) return { method, facilitator }
  const isFree = rightOf(row) !== null
  const isMoney = !isFree && !row.simulated
  if (isMoney && row.product === 'gate') return { method: 'remote', facilitator: null }
  if (isMoney) return { method: row.escrow === null ? 'exact' : 'auth-capture', facilitator: null }
  return { method: isFree ? 'free' : 'simulated', facilitator: null }
}

export type MethodRow = Pick<
  SaleRow,
  'method' | 'facilitator' | 'product' | 'amount' | 'details' | 'simulated' | 'escrow'
>

export async function one(
  on: Statements,
  text: string,
  values: readonly unknown[],
  name: string,
): Promise<Sale | null> {
  const [row] = await on.run<SaleRow>(text, values, name)
  return row === undefined ? null : fromSaleRow(row)
}

export async function lockSale(inside: Statements, id: string): Promise<Sale | null> {
  if (!isId('pay', id) && !isId('call', id)) return null
  return await one(inside, 'SELECT * FROM sale WHERE id = $1 FOR UPDATE', [id], 'sale_lock')
}

/** In the order of the columns of `ADD`. */
export function valuesOf(sale: Sale): unknown[] {
  const { id, product, subject, userId, environment, state, handover, amount, network, recipient, payer } = sale
  const { simulated, digest, request, inputHash, bodyHash, tokenHash, details, txHash, reason } = sale
  return [
    id,
    product,
    subject,
    userId,
    environment,
    state,
    handover,
    amount,
    network,
    recipient,
    payer,
    simulated,
    digest === null ? null : toBytes(digest),
    request === null ? null : JSON.stringify(request),
    inputHash,
    bodyHash,
    tokenHash,
    JSON.stringify(details),
    txHash,
    reason,
    sale.leaseUntil,
    sale.createdAt,
    sale.endedAt,
    sale.resource,
    sale.identifier,
    sale.escrow === null ? null : JSON.stringify(sale.escrow),
    sale.method,
    sale.facilitator,
  ]
}
