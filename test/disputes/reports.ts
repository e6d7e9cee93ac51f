import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Dispute, Reason } from '../../service/disputes/model.ts'
import { refundText, reportText } from '../../service/disputes/rules.ts'
import { usdc } from '../../service/kit/money.ts'
import type { TestPerson, TestService } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'

export const DAY_MS = 86_400_000

/** A payment of a dollar with its payer's key and its token. */
export async function createSale(service: TestService, seller: TestPerson, over: Parameters<typeof addSale>[2] = {}) {
  const payer = privateKeyToAccount(generatePrivateKey())
  const id = await addSale(service, seller, { payer: payer.address.toLowerCase(), ...over })
  const token = `tok_${randomBytes(32).toString('base64url')}`
  const [row] = await service.database.statements.run<{ tx_hash: string | null }>(
    'UPDATE sale SET token_hash = $2 WHERE id = $1 RETURNING tx_hash',
    [id, createHash('sha256').update(token).digest()],
  )
  return { id, token, payer, txHash: row?.tx_hash ?? '' }
}

export type TestSale = Awaited<ReturnType<typeof createSale>>
export type Signer = Pick<TestSale['payer'], 'signMessage'>

export function report(
  service: Pick<TestService, 'call'>,
  { id, token }: Pick<TestSale, 'id' | 'token'>,
  body: object = {},
) {
  return service.call('POST', `/receipts/${id}/dispute`, {
    body: { reason: 'service_not_delivered', ...body },
    headers: { 'x-payment-token': token },
  })
}

/** The public address of the receipts, which every signed text names. */
async function receiptsOf({ disputes }: Pick<TestService, 'disputes'>): Promise<string> {
  const terms = await disputes.terms({ userId: 'usr_none', environment: 'sandbox' })
  return (terms?.refundEndpoint ?? '').replace(/\/refunds$/, '')
}

/** A report that is signed instead of sent with the token. */
export async function signedReport(
  service: Pick<TestService, 'disputes' | 'clock'>,
  { id }: Pick<TestSale, 'id'>,
  by: Signer,
  over: SignedOver = {},
) {
  const { origin = await receiptsOf(service), minutes = 10, amount = 1_000_000n, of = id } = over
  const expiresAt = new Date(service.clock.now().getTime() + minutes * 60_000)
  const sale = { id: of, amount: usdc(amount), network: 'base-sepolia' } as const
  const signature = await by.signMessage({
    message: reportText(sale, { reason: 'service_defective' }, { origin, expiresAt }),
  })
  return { reason: 'service_defective', signature, expiresAt: expiresAt.toISOString() }
}

interface SignedOver {
  origin?: string
  minutes?: number
  amount?: bigint
  of?: string
}

/** A program's request, signed by its payer. */
export async function refundRequest(
  service: Pick<TestService, 'disputes' | 'clock'>,
  sale: TestSale,
  over: RequestOver = {},
) {
  const { by = sale.payer, origin = `${await receiptsOf(service)}/refunds`, minutes = 10, amount = '1000000' } = over
  const { refundTo = null, key = randomUUID(), txHash = sale.txHash, network = 'eip155:84532' } = over
  const { paymentId = null, reason = 'service_not_delivered', signed = {} } = over
  const expiresAt = new Date(service.clock.now().getTime() + minutes * 60_000)
  const request = {
    ...{ txHash, network, paymentId, amount: usdc(BigInt(amount)), reason },
    ...{ detail: null, refundTo, key, proof: null, token: null, ...signed },
  }
  const payerSignature = await by.signMessage({ message: refundText(request, { origin, expiresAt }) })
  return {
    x402Version: 2,
    paymentReference: { txHash, network, ...(paymentId === null ? {} : { paymentId }) },
    ...{ amount, reason, idempotencyKey: key, payerSignature },
    expiresAt: expiresAt.toISOString(),
    ...(refundTo === null ? {} : { refundTo }),
  }
}

interface RequestOver {
  by?: Signer
  origin?: string
  minutes?: number
  amount?: string
  refundTo?: `0x${string}` | null
  key?: string
  txHash?: string
  network?: string
  paymentId?: string | null
  reason?: Reason
  /** What is signed otherwise than it is sent. */
  signed?: Partial<Parameters<typeof refundText>[0]>
}

export function askRefund(service: Pick<TestService, 'call'>, body: object, headers: Record<string, string> = {}) {
  return service.call('POST', '/receipts/refunds', { body, headers })
}

export function answer(
  seller: Pick<TestPerson, 'call'>,
  id: string,
  body: object,
  headers: Record<string, string> = {},
) {
  return seller.call('POST', `/v1/disputes/${id}/answer`, { body, headers })
}

/** Does what the worker does with disputes. */
export async function sweep({ disputes, clock }: TestService): Promise<void> {
  const { signal } = new AbortController()
  await disputes.sweepers.due(clock.now(), signal)
  await disputes.sweepers.left(clock.now(), signal)
}

export async function disputeOf({ disputes }: TestService, sale: string): Promise<Dispute> {
  const found = await disputes.ofSale(sale)
  if (found === null) throw new Error(`the sale ${sale} has no dispute`)
  return found
}

/** The account's events, oldest first. */
export async function eventsOf({ database }: TestService): Promise<{ event: string; data: Record<string, unknown> }[]> {
  const rows = await database.statements.run<{ body: string }>(
    `SELECT body FROM delivery WHERE subject LIKE 'evt\\_%' ORDER BY created_at, id`,
    [],
  )
  return rows.map(({ body }) => JSON.parse(body) as { event: string; data: Record<string, unknown> })
}
