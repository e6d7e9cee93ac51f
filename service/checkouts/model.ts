import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Field } from '../kit/fields.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Pass, Plan } from '../passes/model.ts'
import type { Right, Sale, WorkResult } from '../sales/model.ts'

/** A price on a workflow: the input that a customer gives, and where the paid input is sent. */
export interface Checkout extends Terms {
  id: Id<'chk'>
  owner: Owner
  /** The stored state; `statusOf` derives the current one. */
  state: 'active' | 'paused' | 'expired'
  /** A temporary checkout ends then unless its listener sends a heartbeat. */
  leasedUntil: Date | null
  pausedAt: Date | null
  expiredAt: Date | null
  /** Counts the changes of `Shown`. */
  version: number
  /** The network of today, where this is an earlier version. */
  networkNow?: NetworkName
  createdAt: Date
  updatedAt: Date
}

/** What buyers are shown before they pay. They get this, also where the checkout is changed meanwhile. */
export type Shown = Pick<
  Terms,
  | 'product'
  | 'price'
  | 'pricing'
  | 'coupons'
  | 'network'
  | 'recipient'
  | 'fields'
  | 'redirectUrl'
  | 'responseMode'
  | 'capture'
  | 'runSeconds'
  | 'refundOnFailure'
  | 'trialRuns'
  | 'plans'
  | 'after'
  | 'chat'
>

/** What the owner configures. */
export interface Terms {
  /** Null where no workflow is called. */
  callbackUrl: string | null
  after: After
  /** Shown as it is today, also to buyers of an earlier version. */
  picture: Picture | null
  product: { name: string; description: string | null }
  /** What it costs, of each with `quantity`. Where the buyer decides otherwise: what it costs without a decision. */
  price: Usdc
  pricing: Pricing
  /** Whether buyers may use the account's codes. */
  coupons: boolean
  network: NetworkName
  /** Null only in test mode, where no money is paid. */
  recipient: Address | null
  fields: readonly Field[]
  redirectUrl: string | null
  testMode: boolean
  lifetime: Lifetime
  responseMode: ResponseMode
  /** Whether to check that the workflow responds before money is taken. */
  preflight: boolean
  onUnconfirmed: 'hold' | 'redeliver'
  /** What an answer of 4xx or 5xx means. Null: by what kind of receiver it has (`onErrorOf`). */
  onError: OnError | null
  /** When the money moves. */
  capture: Capture
  /** With `onSuccess`: how long the workflow may take until its outcome is known. */
  runSeconds: number
  /** With `onPayment`: send the money back by itself where the workflow fails. */
  refundOnFailure: boolean
  /** The sites that may show the payment page in a frame. */
  embedOrigins: readonly string[]
  /** How many runs each wallet gets for nothing. */
  trialRuns: number
  /** How many such runs all wallets together get on a day (UTC). */
  trialsPerDay: number
  /** What buyers can pay for ahead. */
  plans: readonly Plan[]
  /** A conversation whose turns are the runs of a pass. Null for every other checkout. */
  chat: Chat | null
  /** About what its owner is mailed. */
  notify: Readonly<Record<NoticeKind, boolean>>
  /** The node that the checkout belongs to: the same source gets the same checkout back. */
  source: Source | null
}

/** Its form is one message. */
export interface Chat {
  /** Shown before the first message. */
  greeting: string | null
}

/** One message of a customer, and what the workflow answered. Each is a sale. */
export interface Turn {
  number: number
  saleId: string
  message: string
  status: 'working' | 'answered' | 'failed'
  /** As long as a history keeps it. Null while there is none. */
  answer: string | null
  /** Whether the answer is longer. */
  isCut: boolean
  createdAt: Date
}

/** What a workflow is sent of a chat, besides the message. */
export interface ChatContext {
  /** The pass that pays for it, or the payment of a turn that was paid alone. */
  id: string
  turn: number
  /** Null where only the time is limited. */
  turnsLeft: number | null
  /** What was answered before, oldest first. */
  history: readonly { message: string; answer: string }[]
}

/** `failure`: a sale whose delivery or workflow failed. */
export type NoticeKind = 'sale' | 'failure'

/** What a payment leads to: a delivery to a workflow, or something that is there already. */
export type After =
  | { kind: 'webhook' }
  /** Markdown. */
  | { kind: 'text'; text: string }
  | { kind: 'link'; url: string }
  /** A file never changes, so what is known of it is stored with it. */
  | { kind: 'file'; fileId: string; name: string; mediaType: string; bytes: number }

/** With its size in pixels, so that the page can leave room for it. */
export interface Picture {
  fileId: string
  width: number
  height: number
}

/** How the price comes about. Amounts are decimals where it is shown, and texts where it is stored. */
export type Pricing<Amount = Usdc> =
  | { kind: 'fixed' }
  /** The price is for each. */
  | { kind: 'quantity'; min: number; max: number }
  | { kind: 'choose'; min: Amount; max: Amount | null; suggested: Amount | null }
  /** A field of the form decides: a `select`, with a price for each of its options. */
  | { kind: 'byField'; field: string; prices: Readonly<Record<string, Amount>> }

/** What the buyer chose besides the input. What is absent has its default. */
export interface Choice<Amount = Usdc> {
  quantity?: number | undefined
  amount?: Amount | undefined
  /** A code of the account's, in capital letters. */
  coupon?: string | undefined
  /** The id of the plan that is bought. A single run without it. */
  plan?: string | undefined
}

/** How the total of a purchase comes about. */
export interface Lines<Amount = Usdc> {
  unit: Amount
  quantity: number
  subtotal: Amount
  /** The code that was used. */
  coupon: string | null
  discount: Amount
  total: Amount
}

/**
 * `onPayment`: before the workflow runs. `onSuccess`: the buyer's authorization is held while it runs, and is used only
 * where it succeeds. `escrow`: the money waits in a contract while it runs, for the seller if it succeeds, or else for
 * the buyer.
 */
export type Capture = 'onPayment' | 'onSuccess' | 'escrow'

/** Whether the workflow runs before the payment is charged. */
export function isLate(capture: Capture): boolean {
  return capture !== 'onPayment'
}
export type Lifetime = 'temporary' | 'persistent'
/**
 * `retry`: it is delivered again, by the schedule. `fail`: the order has failed, except where the answer says that the
 * receiver was busy.
 */
export const ON_ERROR = ['retry', 'fail'] as const
export type OnError = (typeof ON_ERROR)[number]

/** `lastNode`: the payer sees the workflow's answer. */
export type ResponseMode = 'immediately' | 'lastNode'
export type Status = 'active' | 'paused' | 'expired'

export interface Source {
  instanceId: string
  workflowId: string
  nodeId: string
}

export interface Payment {
  id: Id<'pay'>
  checkoutId: Id<'chk'>
  owner: Owner
  state: PaymentState
  amount: Usdc
  lines: Lines
  network: NetworkName
  /** Null for a simulated payment. */
  recipient: Address | null
  payer: Address
  simulated: boolean
  /** The customer's input, with defaults for omitted fields. */
  input: Readonly<Record<string, unknown>>
  txHash: string | null
  /** The reason of a failure, as a code of the protocol, or a `WorkFailure`. */
  reason: string | null
  capture: Capture
  method: Sale['method']
  /** The payment's way through the escrow. Null without one. */
  escrow: Sale['escrow']
  /** When a held payment ends unless its workflow has succeeded. Null where none is held. */
  deadline: Date | null
  /** What the seller reported about the work. */
  result: WorkResult | null
  /** Why it costs nothing. Null for one with money. */
  right: Pick<Right, 'kind' | 'id'> | null
  /** The plan that it buys. Null for a single run. */
  plan: Plan | null
  /** The pass that it has bought or used, where that was looked up. */
  pass: Pass | null
  /** What its workflow wrote while it works, where that was looked up. */
  progress: readonly ProgressLine[]
  /** The further amounts that its buyer was asked for, where they were looked up; the oldest first. */
  requests: readonly PaymentRequest[]
  createdAt: Date
  paidAt: Date | null
  /** The sum of its refunds that have not failed. */
  refunded: Usdc
  /** Its refunds, where they were looked up. */
  refunds: readonly ReceiptRefund[]
  /** The id of the order's address, at which a refund waits for its buyer, where that was looked up. */
  orderAddress: string | null
}

/** A further amount that the seller asks the buyer of a payment for. It is paid at a checkout of its own. */
export interface PaymentRequest {
  id: Id<'prq'>
  /** The payment that it belongs to. */
  paymentId: string
  checkoutId: Id<'chk'>
  owner: Owner
  amount: Usdc
  /** What it is for. The buyer reads it. */
  note: string
  /** Where its end is sent to. */
  callbackUrl: string | null
  /** The payment of the further amount, from its beginning. Null again where it failed. */
  saleId: string | null
  /** Null while it is open. */
  endedAs: 'paid' | 'refused' | 'expired' | null
  expiresAt: Date
  createdAt: Date
  endedAt: Date | null
}

/** `paying`: a payment has begun, and the chain decides. */
export type RequestStatus = 'open' | 'paying' | NonNullable<PaymentRequest['endedAs']>

/** A refund, as the buyer and the owner see it at the payment. */
export interface ReceiptRefund {
  id: string
  /** `confirmed`: the payer has the money. `failed`: nothing went back, and nothing will. */
  state: 'requested' | 'funded' | 'sent' | 'confirmed' | 'failed'
  amount: number
  /** Null until it is sent, and for a refund to an account of this server. */
  txHash: string | null
  explorerUrl: string | null
}

/**
 * `created`: accepted; the authorization belongs to this payment alone. `settling`: the chain was called, its answer is
 * not known yet. Both end without further requests, even if the process that started them is gone. With `onSuccess`
 * a payment is `created` until its workflow has ended.
 */
export type PaymentState = 'created' | 'settling' | 'paid' | 'failed'

/** What a workflow writes for its buyer while it works. */
export interface ProgressLine {
  text: string
  percent: number | null
  at: string
}

/** The latest lines of a payment, oldest first, and how many were written in all. */
export interface Progress {
  lines: readonly ProgressLine[]
  written: number
}

/** A price that stays valid for ten minutes. */
export interface Quote {
  /** The total that is paid. */
  price: Usdc
  /** What the total is for. Null in a quote of an earlier release, which had the price alone. */
  lines: Lines | null
  /** The plan that it is for. Null for a single run. */
  plan: string | null
  network: NetworkName
  recipient: Address | null
  /** The version that was shown with it. Null in a quote of an earlier release. */
  version: number | null
  expiresAt: Date
}

/** Why a held payment was given up. */
export type WorkFailure = 'workflow_failed' | 'workflow_unreachable' | 'workflow_timeout'
