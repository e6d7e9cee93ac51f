import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { invalid } from '../../kit/errors.ts'
import type { Id } from '../../kit/ids.ts'
import { Departure } from '../../kit/departure.ts'
import { least, toDecimal, toWire, ZERO, type Usdc } from '../../kit/money.ts'
import { amount } from '../../kit/wire.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import type { Dialects } from '../../x402/dialects.ts'
import type { Presented } from '../../x402/model.ts'
import { presentedInMeta, PRESENTED_META } from '../../x402/payload.ts'
import { refusalIn, UNPAID } from '../errors.ts'
import { toolNameOf, type Sale, type ToolOffer } from '../model.ts'
import { receiptOf, requiredOf, type Counter, type Paid } from './door.ts'
import { checkedToken, type BuyerProof } from './proof.ts'

type Meta = Readonly<Record<string, unknown>>

interface McpRequest {
  meta: Meta
  operation: Id<'op'>
  gone: AbortSignal
  /** The client's own call was paid for already, in another channel. Null when it was not, as far as is known. */
  own?: BuyerProof | null
}

/** What an MCP client is answered: the terms in every protocol's form, or what it paid for with its receipt. */
export type McpSale<Value> =
  { kind: 'required'; terms: Meta; meta: Meta } | { kind: 'sold'; sold: Paid<Value>; meta: Meta }

/** Sells over MCP: the payment, the terms and the receipt travel in `_meta`. It is the same for every product. */
export async function sellOverMcp<Value>(
  { meta, operation, gone, own = null }: McpRequest,
  counter: Counter<Value>,
): Promise<McpSale<Value>> {
  const { token, payment } = own ?? namedPaymentIn(meta)
  let presented: Presented | null = null
  try {
    // A second payment for the same call is not taken.
    presented = own === null ? presentedInMeta(meta) : null
    if (presented === null && payment === null) return await required(counter, UNPAID)
    const sold = await counter.buy({ presented, token, payment, operation, departure: new Departure(gone) })
    const { value, sale } = sold
    if (value === null || value === undefined || sale.txHash === null) throw new Error('a paid sale has no answer')
    const challenge = presented?.challenge ?? null
    return { kind: 'sold', sold: { ...sold, value }, meta: receiptMeta(sold, counter.dialects, challenge) }
  } catch (error) {
    const refusal = refusalIn(error, presented?.challenge == null && !pays(meta) ? NO_HEADER : MPP_HEADER)
    if (refusal === null) throw error
    return await required(counter, refusal)
  }
}

/** The receipt, in the form of the protocol by which it was paid, and the proof that fetches the answer again. */
export function receiptMeta(
  { sale, token }: Pick<Paid<unknown>, 'sale' | 'token'>,
  dialects: Pick<Dialects, 'result'>,
  challenge: Presented['challenge'] | null = null,
): Meta {
  const proof = paymentMeta(sale.id, token)
  if (sale.simulated) return { 'coinslot/simulated': true, ...proof }
  const name = challenge === null ? 'x402/payment-response' : 'org.paymentauth/receipt'
  return { [name]: dialects.result(receiptOf(sale), challenge), ...proof }
}

/** What an account was charged, and the id by which its next call is answered from that. Null where no answer is stored. */
export function chargedMeta(billing: object, id: string | null, token: string | null = null): Meta {
  return { 'coinslot/billing': billing, ...(id === null ? {} : paymentMeta(id, token)) }
}

/** The same of a payment, with the token of its receipt where the ledger paid. Null where nothing had to be paid. */
export function billedMeta(payment: Pick<Sale, 'id' | 'amount'> | null, token: string | null = null): Meta {
  if (payment === null) return chargedMeta({ cost: 0 }, null)
  const { id, amount } = payment
  return chargedMeta({ cost: toWire(amount), paymentId: id }, id, token)
}

function paymentMeta(paymentId: string, token: string | null): Meta {
  return { [PAYMENT_META]: { paymentId, ...(token === null ? {} : { paymentToken: token }) } }
}

/**
 * The payment that a call names, and its token: how a client fetches an answer that it lost. A guest's token proves it; an account
 * has paid for it. Throws where it cannot be read: such a call must not be charged as a new one.
 */
export function namedPaymentIn(meta: Meta): { token: string | null; payment: string | null } {
  const named = meta[PAYMENT_META] ?? {}
  const { paymentId: payment = null, paymentToken: token = null } = isRecord(named) ? named : {}
  if (!isRecord(named) || !isTextOrNull(payment) || !isTextOrNull(token)) {
    throw invalid({ [PAYMENT_META]: 'must be {paymentId, paymentToken}, as the answer had it' }, 'invalid_payment')
  }
  return { token: checkedToken(token), payment }
}

/** Whether a call may be about a purchase that was made before: it names its payment, or presents one again. */
export function namesPayment(meta: Meta | undefined): boolean {
  return meta !== undefined && [PAYMENT_META, ...PRESENTED_META].some((name) => meta[name] !== undefined)
}

const PAYMENT_META = 'coinslot/payment'

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

/** How a call over MCP says the most that it may cost: its arguments are the tool's own. */
const MAX_COST_META = 'coinslot/max-cost'

/**
 * The lower of what the call and its arguments name; null where neither names any. Throws where it cannot be read: such a
 * call must not be charged without a bound.
 */
export function maxCostIn(
  meta: Readonly<Record<string, unknown>> | undefined,
  argument: Usdc | null = null,
): Usdc | null {
  const named = meta?.[MAX_COST_META]
  if (named === undefined) return argument
  const read = amount.safeParse(named)
  if (read.success) return argument === null ? read.data : least(read.data, argument)
  throw invalid({ [MAX_COST_META]: read.error.issues[0]?.message ?? 'must be a number' })
}

/** A client of MPP is challenged again for more reasons than one of x402. */
function pays(meta: Meta): boolean {
  return meta['org.paymentauth/credential'] !== undefined
}
const NO_HEADER = () => undefined
const MPP_HEADER = (name: string) => (name === 'accept-payment' ? 'evm/charge' : undefined)

async function required<Value>(
  counter: Counter<Value>,
  why: { sentence: string; reason: string | null },
): Promise<McpSale<Value>> {
  const { x402, challenge } = counter.dialects.terms(requiredOf(await counter.offer(), counter.facilitator, why))
  const challenges =
    challenge === null
      ? []
      : [
          Object.fromEntries(
            Object.entries({ ...challenge, request: decoded(challenge.request) }).filter(([, value]) => value !== null),
          ),
        ]
  return {
    kind: 'required',
    terms: x402,
    meta: {
      'x402/error': x402,
      'org.paymentauth/payment-required': { httpStatus: 402, challenges },
    },
  }
}

function decoded(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
}

/** A product as a tool for models. `isGuest`: each call is paid by itself, without an account. */
export function toolOf({ name: title, description, input, price, testMode }: ToolOffer, isGuest: boolean): Tool {
  const isPaid = isGuest && !testMode && price !== ZERO
  return {
    name: toolNameOf(title),
    title,
    description: `${description ?? title}\n${testMode ? 'In test mode: nothing is charged.' : costOf(price)}`,
    inputSchema: input as Tool['inputSchema'],
    annotations: { openWorldHint: true, readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    _meta: {
      ...(typeof price === 'string' ? {} : { 'coinslot/price': toDecimal(price) }),
      ...(isPaid ? { 'agents-x402/paymentRequired': true } : {}),
      ...(isPaid && typeof price !== 'string' ? { 'agents-x402/priceUSD': toWire(price) } : {}),
    },
  }
}

function costOf(price: Usdc | string): string {
  if (typeof price === 'string') return `Costs ${price}. A call without a payment states its price.`
  return price === ZERO ? 'Free.' : `Costs ${toDecimal(price)} USDC a call.`
}
