import type { Address, Hex } from '../chain/model.ts'
import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import type { Language } from '../kit/language.ts'
import { ZERO, type Usdc } from '../kit/money.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { Span } from '../kit/clock.ts'
import { withoutTrailing } from '../kit/text.ts'
import type { Statements } from '../kit/transaction.ts'
import type { RefundTerms, RequestBody, Requirements } from '../x402/model.ts'
import type { SignInTerms } from '../x402/sign-in.ts'

/** What can be sold for one payment. */
export const PRODUCTS = ['tool', 'checkout', 'gate', 'asset'] as const
export type ProductName = (typeof PRODUCTS)[number]

/**
 * How a sale is paid. This service's own facilitator settles `exact`, `auth-capture`, `mpp-charge` and `upto`, and another one
 * `remote`, whatever its buyer signed. `account`: by an account of this server, in the ledger. `free`: its buyer has a right to
 * it.
 */
export const METHODS = [
  'exact',
  'auth-capture',
  'mpp-charge',
  'upto',
  'remote',
  'account',
  'simulated',
  'free',
] as const
export type MethodName = (typeof METHODS)[number]

/**
 * `claimed`: only this sale may use the authorization; when delivery comes first, the answer is being made. `released`:
 * that failed; nothing is charged, and the same authorization may be used again. `held`: the work is done elsewhere, and
 * its outcome decides whether the money moves. `settling`: the chain may have been asked, for what `stepOf` says. `paid`:
 * the money has arrived. `failed`: the money will never arrive. `refunded`: all of it went back.
 */
export const SALE_STATES = ['claimed', 'released', 'held', 'settling', 'paid', 'failed', 'refunded'] as const
export type SaleState = (typeof SALE_STATES)[number]

/** How far the answer was handed over: not at all, at least its first byte, whole, or not fetched in time. */
export type Handover = 'none' | 'begun' | 'whole' | 'expired'

/** One thing that is bought once. */
export interface Sale {
  id: string
  product: ProductName
  /** What is sold: a checkout, a tool, a paywall, an asset. */
  subject: string
  /** The seller's user. Null for the platform's own products. */
  userId: string | null
  environment: Environment
  state: SaleState
  handover: Handover
  /** 0 where its buyer has a right to it (`rightOf`). Of a permit the most, and what was used once that is known. */
  amount: Usdc
  network: NetworkName
  /** Null for a simulated one. */
  recipient: Address | null
  payer: Address
  /** The method that it was begun with settles and ends it, whatever the settings are by then. */
  method: MethodName
  /**
   * The address of the facilitator of a `remote` one. Null for the others, and for a gate's sale from before this was
   * stored: that is settled where the settings say.
   */
  facilitator: string | null
  /** It belongs to test mode. */
  simulated: boolean
  /** Names the authorization. Null where there is none. */
  digest: Hex | null
  /** The request to a facilitator, stored so that it can be repeated. */
  request: RequestBody | null
  /** Hash of the request's input: the same input is the same sale. */
  inputHash: Buffer
  /** Hash of a body that is forwarded as a stream. Null until it is known. */
  bodyHash: Buffer | null
  /** Hash of a token that the buyer chose. Null when the buyer sent none. */
  tokenHash: Buffer | null
  /** The id that the client chose for its payment: a payer uses one once. Null when it chose none. */
  identifier: string | null
  /** The address that was paid for. Null for a simulated payment, and for sales from before receipts had it. */
  resource: string | null
  /** Data that belongs to the product. */
  details: Readonly<Record<string, unknown>>
  txHash: string | null
  reason: string | null
  /** How the work that is done elsewhere has ended. Null until that is known, and where no work is done elsewhere. */
  result: WorkResult | null
  /** Where the money waits in the escrow while the work is done. Null for every other sale. */
  escrow: Escrow | null
  /** One process works on the sale until then. For a `held` one: its work must have ended by then. */
  leaseUntil: Date | null
  createdAt: Date
  endedAt: Date | null
  /** Until when the answer is owed, where no request of its buyer waited for the payment. Null where one did. */
  owedUntil: Date | null
  /** The sum of its refunds that have not failed. */
  refunded: Usdc
  /**
   * How long after it a problem could be reported, by the seller's policy when it was stored. Null before that, and for
   * sales from before this was recorded.
   */
  refundWindowDays: number | null
}

/** What is known of a payment that waits in the escrow. */
export interface Escrow {
  /** Until then the seller may be paid. After it the payer can take the money back without anyone's help. */
  captureBy: string
  /** The longest time that the work takes. */
  workMs: number
  /** The transaction that moved the money into the escrow. Null until it did. */
  authorizedTx: string | null
  /**
   * How a payment that was not captured has ended: its payer has it back, or can take it back. Null while it has not
   * ended, and where the money never moved.
   */
  end: 'voided' | 'reclaimable' | null
  /** The transaction of this service that gave it back. Null where the payer took it back. */
  voidedTx: string | null
}

/** What the chain is asked for. A sale in the escrow asks twice: first for the money to wait, then for its end. */
export type Step = 'settle' | 'authorize' | 'capture' | 'void'

export function stepOf({ escrow, result }: Pick<Sale, 'escrow' | 'result'>): Step {
  if (escrow === null) return 'settle'
  if (result === null) return 'authorize'
  return result.status === 'succeeded' ? 'capture' : 'void'
}

/** The price and terms for one thing, as its buyer is shown them. */
export interface Offer {
  slug: string
  name: string
  /** The address at which it is bought. */
  address: string
  amount: Usdc
  network: NetworkName
  recipient: Address
  /** The input's JSON schema. */
  input: Readonly<Record<string, unknown>>
  /** The longest time between the signature and the moment when the money moves; absent where it moves soon. */
  workMs?: number
  /** How to ask for the money back. Null where the seller offers no such way. */
  refund?: RefundTerms | null
  /** The money waits in the escrow meanwhile: who may end that, and until when. */
  escrow?: { operator: Address; captureDeadline: number }
  /** What was used of a permit is taken, and this is who takes it. Absent or null where only the whole amount is sold. */
  taker?: Address | null
  /** The terms of what is bought otherwise than by a POST of its input. Null where there is nothing to sign: in test mode. */
  requirements?: Requirements | null
  /** A text for people. The slug where absent. */
  memo?: string
  /** What the buyer may sign in to instead of paying. */
  signIn?: SignInTerms | null
  /** Whether a payment must have an identifier of the client's choice. */
  requiresIdentifier?: boolean
  /** Further fields of its 402. */
  more?: Readonly<Record<string, unknown>>
}

/** What a call of a tool buys. */
export interface ToolOffer {
  /** As its seller calls it. */
  name: string
  description: string | null
  /** A JSON schema of an object. */
  input: Readonly<Record<string, unknown>>
  /** Of each call. A text where it depends on the input or the use. */
  price: Usdc | string
  /** Nothing is charged; payments are simulated. */
  testMode: boolean
}

/** The product's name in the letters that every client accepts. */
export function toolNameOf(product: string): string {
  const latin = product
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036F]/g, '')
  const words = latin.split(/[^a-z0-9]+/).filter((word) => word !== '')
  return withoutTrailing(words.join('-').slice(0, TOOL_NAME_MAX), '-') || 'buy'
}

/** Clients refuse longer names. */
export const TOOL_NAME_MAX = 64

/** A sale before any work was done for it. */
export type NewSale = Omit<
  Sale,
  | 'state'
  | 'handover'
  | 'bodyHash'
  | 'txHash'
  | 'reason'
  | 'result'
  | 'endedAt'
  | 'owedUntil'
  | 'refunded'
  | 'refundWindowDays'
>

/** How the work that was bought has ended. */
export interface WorkResult {
  status: 'succeeded' | 'failed'
  /** For the buyer, once it is paid. Null where the delivery's own answer is the answer. */
  answer: string | null
  /** Why it failed, for the seller and the buyer. */
  reason: string | null
  at: string
}

/** An answer that is stored until it was handed over whole, or is not owed any more. */
export interface StoredAnswer {
  /** Data that belongs to the product. */
  meta: Readonly<Record<string, unknown>>
  body: Buffer
}

/** What is stored before the chain is asked. */
export interface Delivered {
  /** Null when the answer is not stored: it streams, or the money comes first. */
  answer: StoredAnswer | null
  bodyHash: Buffer | null
  /** Replaces the sale's details. Null leaves them unchanged. */
  details: Sale['details'] | null
  /** What was used of the sale's amount, and becomes its amount. Null: all of it. */
  amount: Usdc | null
}

/** Who settles and ends a sale. */
export type PaymentMethod = Pick<Sale, 'method' | 'facilitator'>

/** The known outcome of a transfer. */
export type Settled =
  { status: 'settled'; txHash: string } | { status: 'pending' } | { status: 'failed'; reason: string }

/**
 * Why a sale costs nothing: a pass that the customer paid for, a trial, or a coupon for the whole price. It takes the place
 * of an authorization. `id`: the pass, or the coupon.
 */
export interface Right {
  kind: (typeof RIGHTS)[number]
  id: string | null
  /** The wallet that has the right. The zero address where no wallet is known. */
  payer: Address
  /** The right belongs to test mode. */
  simulated: boolean
}

export const RIGHTS = ['pass', 'trial', 'coupon'] as const

/** The right that a sale used. Null for one that is paid with money. */
export function rightOf({ amount, details }: Pick<Sale, 'amount' | 'details'>): Pick<Right, 'kind' | 'id'> | null {
  if (amount !== ZERO) return null
  const { kind, id } = (details['right'] ?? {}) as { kind?: unknown; id?: unknown }
  const known = RIGHTS.find((name) => name === kind)
  return known === undefined ? null : { kind: known, id: typeof id === 'string' ? id : null }
}

/** Its buyer has a right to it: nothing was signed for it, and no money moves. */
export function isFree(sale: Pick<Sale, 'amount' | 'details'>): boolean {
  return rightOf(sale) !== null
}

/** An account of this server that buys one thing. */
export interface AccountBuyer {
  /** The address that stands for it in its purchases. */
  payer: Address
  /** The program of it that buys. */
  agentId: string | null
  /** Sets the price aside under the sale's id, in the transaction in which `write` stores the sale. Throws why it may not be spent. */
  setAside<T>(id: string, write: (inside: Statements) => Promise<T>): Promise<T>
}

/** An account's payment to an address outside of its ledger, and the authorization that it signed for it. */
export interface AccountPayment {
  id: Id<'pay'>
  /** What was asked for. */
  url: string
  method: string
  amount: Usdc
  network: NetworkName
  payer: Address
  nonce: Hex
  /** `returned`: nothing was charged. */
  state: string
  /** What the seller answered. Null when it has not. */
  answerStatus: number | null
  createdAt: Date
}

/** The caller's account as the buyer at these terms. Null where their recipient is paid outside of this server. */
export type AccountFor = (
  terms: Pick<Sale, 'amount' | 'network'> & { recipient: Address },
) => Promise<AccountBuyer | null>

/** Where its buyer wants the receipt, and the language of the page where it was bought. */
export interface ReceiptTo {
  email: string
  language: Language
}

/** Null where the buyer entered no address. */
export function receiptTo({ details }: Pick<Sale, 'details'>): ReceiptTo | null {
  return (details['receipt'] as ReceiptTo | undefined) ?? null
}

/** What a product writes in the sale's own transactions. */
export interface SaleHooks {
  /** The sale is claimed or held, for the first time or again. Throws to refuse the claim. */
  claimed?(inside: Statements, sale: Sale, note: unknown): Promise<void>
  /** The work may begin: the authorization is held, or its money waits in the escrow. */
  held?(inside: Statements, sale: Sale): Promise<void>
  /** The work has failed or was too slow. What has not begun must not begin. */
  givenUp?(inside: Statements, sale: Sale): Promise<void>
  /** The sale was released or failed, so what `claimed` took is free again. */
  freed?(inside: Statements, sale: Sale): Promise<void>
  paid?(inside: Statements, sale: Sale, note: unknown): Promise<void>
  /** The work of a free sale has failed after it was paid: what `claimed` took of the right is given back. */
  returned?(inside: Statements, sale: Sale): Promise<void>
  failed?(inside: Statements, sale: Sale): Promise<void>
  /** It is paid, and its seller says that the work has failed. */
  workFailed?(inside: Statements, sale: Sale): Promise<void>
  /** The delivery that was paid for in advance is done. */
  delivered?(inside: Statements, sale: Sale, answer: StoredAnswer): Promise<void>
}

/** The reading side, for products and their owners. */
export interface SaleReader {
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Sale>>
  /** What an account of this server has bought; an agent sees its own. Null where it has bought nothing of this id. */
  findBought(buyer: Owner & Pick<AccountBuyer, 'agentId'>, id: Id<'pay'>): Promise<Sale | null>
  /** The sales of one subject of this owner, newest first. */
  list(
    owner: Owner,
    subject: string,
    page: { limit: number; offset: number },
  ): Promise<{ sales: readonly Sale[]; total: number }>
}

/** Which of an owner's sales to list. Null selects all. */
export interface SaleFilter {
  product: ProductName | null
  states: readonly SaleState[] | null
  payer: Address | null
  /** The address for the receipt, in lower case. */
  email: string | null
  /** Began at this time or later, and before the other. */
  from: Date | null
  to: Date | null
  /** Whether something of it went back, or is about to. */
  refunded: boolean | null
}

/** A sale with the seller's name for what was sold. */
export interface NamedSale {
  sale: Sale
  name: string | null
  /** The payer is an address of ours, to which the customer sent a plain transfer. */
  byTransfer: boolean
  /** Who sent that transfer, as far as the chain tells: an exchange's address is that of many. */
  sentFrom: readonly Address[]
}

/** Everyone who paid with one e-mail address for the receipt, or without one from one wallet. */
export interface Customer {
  /** The e-mail address in lower case; without one, the wallet. */
  key: string
  email: string | null
  /** The wallet of the last payment. */
  payer: Address
  /** That wallet is an address of ours, to which the customer sent plain transfers. */
  byTransfer: boolean
  /** Who sent them, as far as the chain tells. */
  sentFrom: readonly Address[]
  payments: number
  paid: Usdc
  refunded: Usdc
  firstAt: Date
  /** The last payment. */
  lastId: string
  lastAt: Date
}

/** The last one who paid first, or the one who paid most, or most often. */
export const CUSTOMER_ORDERS = ['last', 'paid', 'payments'] as const

export interface CustomerPage {
  order: (typeof CUSTOMER_ORDERS)[number]
  /** With what the e-mail address or the wallet begins. */
  search: string | null
  limit: number
  /** The key of the last one on the page before. */
  before: string | null
}

/** The sales of all products of one owner. */
export interface OwnSales {
  listOwn(
    owner: Owner,
    filter: SaleFilter,
    page: { limit: number; offset: number },
  ): Promise<{ sales: readonly NamedSale[]; total: number }>
  /** The newest ones older than the one with the id `before`, without counting all of them. */
  olderOwn(
    owner: Owner,
    filter: SaleFilter,
    page: { limit: number; before: string | null },
  ): Promise<readonly NamedSale[]>
  customers(owner: Owner, page: CustomerPage): Promise<readonly Customer[]>
  findCustomer(owner: Owner, key: string): Promise<Customer | null>
  findOwn(owner: Owner, id: string): Promise<NamedSale | null>
  /** Any owner's, locked until the transaction ends. */
  lock(inside: Statements, id: string): Promise<Sale | null>
}

/** The nonce of an authorization. A buyer who lost the answer can name the sale by it. */
export const NONCE = /^0x[0-9a-f]{64}$/

/** The money arrived, whatever went back afterwards. */
export function wasPaid({ state }: Pick<Sale, 'state'>): boolean {
  return state === 'paid' || state === 'refunded'
}

/**
 * Whether it counts in its seller's sums, among the customers and for an invoice. In production simulated payments and those
 * on a test network moved nothing of worth; the sandbox has no others. Triggers and statements ask `is_real_sale`, which
 * is the same rule in the database.
 */
export function isReal({
  environment,
  network,
  simulated,
}: Pick<Sale, 'environment' | 'network' | 'simulated'>): boolean {
  return environment === 'sandbox' || (!simulated && NETWORKS[network].live)
}

/** The same in a statement where the sale is `s`. */
export const IS_REAL = 'is_real_sale(s.environment, s.network, s.simulated)'

/** All of it went back, is on its way, or is asked for: nobody gets anything for it as well. */
export function isGoingBack({ amount, refunded }: Pick<Sale, 'amount' | 'refunded'>): boolean {
  return amount > ZERO && refunded >= amount
}

/** A sale in the state in which it is claimed. */
export function claimedSale(sale: NewSale): Sale {
  const open = { bodyHash: null, txHash: null, reason: null, result: null, endedAt: null, owedUntil: null }
  return { ...sale, ...open, refunded: ZERO, refundWindowDays: null, state: 'claimed', handover: 'none' }
}

/** What a seller earned in a span of days, and in as many days before it. */
export interface SaleSummary {
  /** The oldest day first; days without a sale are missing. */
  days(owner: Owner, span: Span): Promise<readonly SaleDay[]>
  customers(owner: Owner, span: Span): Promise<{ now: CustomerCounts; before: CustomerCounts }>
  /** Why payments of the span failed, the most frequent reason first. */
  failures(owner: Owner, span: Span): Promise<readonly { reason: string | null; count: number }[]>
}

export interface SaleDay {
  day: string
  /** False for a day before the span. */
  isNow: boolean
  payments: number
  paid: Usdc
  /** What went back of these payments, on whatever day. */
  refunded: Usdc
  failed: number
}

/** Who paid for the first time, and who paid again. */
export interface CustomerCounts {
  added: number
  returning: number
}
