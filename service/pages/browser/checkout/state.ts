import type { CheckoutPage, Embed, PassState, PaymentState, SimulatedOutcome } from '../../model.ts'
import type { Hex, Wallet } from '../../../ui-kit/provider.ts'
import { sentenceOf } from '../words/reasons.ts'
import { say, usdc } from '../words/say.ts'
import { NO_WISH, type Choice, type Raw, type Refusal, type Wish } from './form.ts'
import type { Order, OrderEnd } from './order.ts'
import type { Prefill } from './prefill.ts'

/** What this customer has paid for ahead, and what is left of their trial. */
export interface Ahead {
  /** Kept on this device. */
  pass: KeptPass | null
  /** Of the connected wallet. Null while it is not known. */
  trialRunsLeft: number | null
}

export interface KeptPass extends Pick<PassState, 'runsLeft' | 'until'> {
  token: string
  name: string
}

const NOTHING_AHEAD: Ahead = { pass: null, trialRunsLeft: null }

/** A wallet of the browser, or one that this page brings along and has something to say about. */
export interface PageWallet extends Wallet {
  note?: Drawn
}

/** The page's complete state. */
export interface State {
  page: CheckoutPage
  /** The site around it; null where the page stands alone. Its messages change nothing. */
  embed: Embed | null
  /** The template of a place that sells USDC; null where the operator has named none. */
  onramp: string | null
  /** What the link fills in; null until the script has read it. */
  prefill: Prefill | null
  /** Null until it is known which wallets there are. */
  wallets: readonly PageWallet[] | null
  account: Account | null
  doing: Doing | null
  /** What decides the price. */
  wish: Wish
  /** The wish that the page's price is for. */
  priced: Wish
  /** Why that wish has no price. */
  wishFault: Refusal | null
  /** What was paid for ahead, and what is left of the trial. */
  ahead: Ahead
  /** Where the receipt is to be mailed; empty for nowhere. */
  email: string
  /** By field, and `RECEIPT` for that address. */
  errors: Readonly<Record<string, string>>
  notice: Notice | null
  /** Set from the moment that a payment may exist. */
  progress: Progress | null
  /** The checkout ended while the page was open. */
  gone: boolean
  /** An assistant's call, which the page was opened to pay for. */
  order: Order | null
  /** Whether what was filled in on another device was there; null where the link names nothing of the kind. */
  continued: boolean | null
  /** What shows an order that is paid by a transfer, in place of the form: it is fixed, whatever is sold here now. */
  transfer: Drawn | null
  /** Why the order cannot be paid. */
  orderEnd: OrderEnd | null
  /** What shows a chat, once it is loaded. Null for every other checkout. */
  chat: Drawn | null
}

/** Answers a part of the page. Its type is that of a library of browsers, which this file knows nothing of. */
export type Drawn = (props: { state: State }) => unknown

export interface Account {
  wallet: PageWallet
  address: Hex
  chainId: number
  /** Of the requested token; null while unknown. */
  balance: bigint | null
}

export type Doing = 'connecting' | 'switching' | 'looking' | 'signing' | 'sending'

export interface Notice {
  tone: 'plain' | 'bad'
  text: string
}

export interface Progress {
  /** Null before the first answer: the call was sent, and the payment may be under way. */
  state: PaymentState | null
  slow: boolean
  /** Whether the page was open when the payment ended. */
  live: boolean
}

/** What prevents the customer from paying; the page offers the one action that resolves it. */
export type Hurdle = 'no-account' | 'wrong-network' | 'too-little' | null

export function hurdleOf({ page, account }: State): Hurdle {
  if (account === null) return 'no-account'
  if (account.chainId !== page.checkout.chainId) return 'wrong-network'
  const missing = missingOf(page, account)
  return missing !== null && missing > 0n ? 'too-little' : null
}

/** What the account lacks for the payment, in micro-USDC; null if that is unknown. */
export function missingOf(page: CheckoutPage, account: Account): bigint | null {
  if (account.balance === null || page.paymentRequirements === null) return null
  const missing = BigInt(page.paymentRequirements.v2.amount) - account.balance
  return missing > 0n ? missing : 0n
}

/** `ready`: what was bought was there already. `ordered`: the work is under way and not paid yet. `returning`: it has failed, and the money goes back. `refunding`, `refunded`: all that was paid goes back, or went back, before anything was delivered. `held`: started and not confirmed. `broken`: started, and failed. `undelivered`: no attempt follows. */
export type Stage =
  | 'ready'
  | 'ordered'
  | 'returning'
  | 'refunding'
  | 'refunded'
  | 'confirming'
  | 'starting'
  | 'retrying'
  | 'working'
  | 'started'
  | 'answered'
  | 'held'
  | 'broken'
  | 'undelivered'
  | 'failed'

export function stageOf({ state }: Progress): Stage {
  if (state?.payment.status === 'created' && state.payment.deadline !== null) return 'ordered'
  if (state?.payment.escrow?.state === 'voiding') return 'returning'
  if (state === null || state.payment.status === 'created' || state.payment.status === 'settling') return 'confirming'
  if (state.payment.status === 'failed') return 'failed'
  const { delivery } = state
  if (delivery === null && state.result !== undefined) return 'ready'
  // What was delivered stays to be read. Nothing else is expected any more.
  if (delivery?.status !== 'delivered' && isReturned(state)) return isAllBack(state) ? 'refunded' : 'refunding'
  switch (delivery?.status) {
    case 'delivered':
      return delivery.answer === null || delivery.answer === '' ? 'started' : 'answered'
    case 'claimed':
      return 'working'
    case 'unconfirmed':
      return delivery.lastStatus === null ? 'held' : 'broken'
    case 'stopped':
    case 'exhausted':
      return (delivery.failure ?? null) === null && !isRefused(delivery) ? 'undelivered' : 'broken'
    case undefined:
    default:
      // Only a workflow that runs writes lines.
      if ((delivery?.progress.length ?? 0) > 0) return 'working'
      return hasFailedTry(delivery) ? 'retrying' : 'starting'
  }
}

/** The seller's server took the order and said that it has failed. With 410 it takes no orders. */
function isRefused({ status, lastStatus }: NonNullable<PaymentState['delivery']>): boolean {
  return status === 'stopped' && lastStatus !== null && lastStatus >= 400 && lastStatus !== 410
}

/** An attempt is counted when it begins: the first one has failed if it left a result, or if a second one has begun. */
function hasFailedTry(delivery: PaymentState['delivery']): boolean {
  if (delivery === null) return false
  return delivery.attempts >= 2 || delivery.lastStatus !== null || delivery.lastError !== null
}

/** No further change is expected. */
export function isOver(progress: Progress): boolean {
  return !['ordered', 'returning', 'refunding', 'confirming', 'starting', 'retrying', 'working'].includes(
    stageOf(progress),
  )
}

/** Whether the seller asks for more: the page shows the end of that. */
export function isAsked({ state }: Progress): boolean {
  return state?.requests?.some(({ status }) => status === 'open' || status === 'paying') === true
}

export function isPaid({ state }: Progress): boolean {
  return state?.payment.status === 'paid'
}

/** The headline for a payment's progress, and the line below it; a screen reader announces both. */
export function headlineOf(progress: Progress, page: CheckoutPage): { title: string; text: string } {
  const headline = headlineOfStage(progress, page)
  return isRefunded(progress) ? { ...headline, title: say('refund.whole') } : headline
}

/** The payer has all of it back. */
function isRefunded({ state }: Progress): boolean {
  return state !== null && isReturned(state) && isAllBack(state)
}

/** All that was paid went back, or is about to. */
function isReturned({ payment: { status, amount, refunded, refunds } }: PaymentState): boolean {
  return status === 'paid' && refunds.length > 0 && refunded >= amount
}

export function isAllBack({ payment }: PaymentState): boolean {
  return payment.refunds.every(({ state }) => state === 'confirmed' || state === 'failed')
}

function headlineOfStage(progress: Progress, { checkout }: CheckoutPage): { title: string; text: string } {
  const product = checkout.product.name
  const answers = checkout.responseMode === 'lastNode'
  const complete = completeOf(progress)
  switch (stageOf(progress)) {
    case 'ready':
      return {
        title: complete,
        text: say(progress.state?.result == null ? 'progress.readyElsewhere' : 'progress.ready'),
      }
    case 'ordered':
      return {
        title: say('progress.prepared'),
        text: say(progress.state?.payment.escrow == null ? 'progress.preparedText' : 'progress.preparedEscrow'),
      }
    case 'returning':
      return { title: say('progress.undone'), text: say('progress.returning') }
    case 'refunding':
      return { title: say('refund.returning'), text: say('progress.returning') }
    case 'refunded':
      return { title: say('refund.whole'), text: say('refund.wholeText') }
    case 'confirming':
      if (progress.slow) return { title: say('common.stillConfirming'), text: say('progress.takesLonger') }
      return checkout.testMode
        ? { title: say('common.simulating'), text: say('common.momentPlease') }
        : { title: say('progress.confirmingTitle'), text: say('progress.seconds') }
    case 'starting':
      return { title: complete, text: say(answers ? 'progress.startingAnswer' : 'progress.starting', { product }) }
    case 'working':
      return { title: complete, text: say(answers ? 'progress.running' : 'progress.begun', { product }) }
    case 'retrying':
      return { title: complete, text: say('progress.retrying', { product }) }
    case 'started':
      return { title: complete, text: say('progress.started') }
    case 'answered':
      return { title: complete, text: say('progress.answered') }
    case 'held':
      return { title: complete, text: say('progress.held', { product }) }
    case 'broken':
      return { title: say('progress.broken'), text: say('progress.brokenText', { product }) }
    case 'undelivered':
      return {
        title: say('progress.undelivered'),
        text: say(isSimulatedFailure(progress) ? 'progress.simulatedFailure' : 'progress.undeliveredText', { product }),
      }
    case 'failed':
      return { title: say(isUndone(progress) ? 'progress.undone' : 'progress.failed'), text: failureOf(progress) }
  }
}

/** Where no money moved, the order is what the buyer waits for. */
function completeOf(progress: Progress): string {
  if ((progress.state?.payment.free ?? null) === null) return say('progress.complete')
  return say(['ready', 'answered'].includes(stageOf(progress)) ? 'progress.orderDone' : 'progress.orderReceived')
}

function failureOf(progress: Progress): string {
  const reason = progress.state?.payment.reason ?? null
  const why = reason === null ? say('progress.networkRefused') : sentenceOf(reason)
  if (progress.state === null || !isReclaimable(progress.state.payment)) return withoutCharge(why)
  // The server's own sentence, where it is shown, ends with the same in English.
  const how = say('progress.reclaimable')
  return why.includes(how) ? why : `${why} ${how}`
}

/** The money left the wallet and was neither charged nor given back. */
export function isReclaimable({ escrow }: PaymentState['payment']): boolean {
  return escrow?.state === 'reclaimable'
}

/** The work failed, not the payment. */
function isUndone({ state }: Progress): boolean {
  return state?.payment.reason?.code.startsWith('workflow_') === true
}

/** In test mode: the person who tests the checkout chose this outcome, and the seller gets no notice. */
function isSimulatedFailure({ state }: Progress): boolean {
  return state?.delivery?.lastError === SIMULATED_FAILURE
}

const SIMULATED_FAILURE = 'simulated_failure'

/** Adds that nothing was charged, unless the message already contains it. */
export function withoutCharge(sentence: string): string {
  const noCharge = say('common.noCharge')
  return sentence.includes(noCharge) ? sentence : `${sentence} ${noCharge}`
}

/** The product, and who sells it where that has a name. */
export function titleOf({ checkout, brand }: Pick<CheckoutPage, 'checkout' | 'brand'>): string {
  const { name } = checkout.product
  return brand?.name == null ? name : `${name} · ${brand.name}`
}

/** A code takes off the whole price. */
export function isFree({ lines }: CheckoutPage): boolean {
  return lines?.total === 0
}

export function priceOf({ checkout, lines }: CheckoutPage): string {
  return usdc(lines?.total ?? checkout.price)
}

/** The code is refused; without it the same can be bought. */
export function isCouponFault({ code, details }: Pick<Refusal, 'code' | 'details'>): boolean {
  return code.startsWith('coupon_') || 'choice.coupon' in details
}

/** What the page is opened with. A chat sells its plans, and the service shows the price of the first one. */
function firstWish({ checkout: { chat, plans = [] } }: CheckoutPage): Wish {
  const first = chat == null ? undefined : plans[0]
  return first === undefined ? NO_WISH : { input: {}, choice: { plan: first.id } }
}

export function firstState(
  page: CheckoutPage,
  payment: PaymentState | null,
  { embed = null, onramp = null }: { embed?: Embed | null | undefined; onramp?: string | null | undefined } = {},
): State {
  const wish = firstWish(page)
  return {
    page,
    embed,
    onramp,
    prefill: null,
    wallets: null,
    account: null,
    doing: null,
    wish,
    priced: wish,
    wishFault: null,
    ahead: NOTHING_AHEAD,
    email: '',
    errors: {},
    notice: null,
    progress: payment === null ? null : { state: payment, slow: false, live: false },
    gone: false,
    order: null,
    continued: null,
    transfer: null,
    orderEnd: null,
    chat: null,
  }
}

/** The way to this form from another device. */
export interface Handover {
  url: string
  /** The same as a QR code, in SVG. */
  qr: string
  expiresAt: string
}

/** The customer's actions. */
export interface WalletActs {
  pay(raw: Raw): void
  connect(wallet: PageWallet): void
  switchNetwork(): void
  look(): void
  changeWallet(): void
  again(): void
  /** Stores the form for another device. Absent at a gate, which has no form. */
  handOver?: ((raw: Raw) => Promise<Handover | null>) | undefined
  retry(): void
  /** Absent at a gate. */
  transfer?: TransferActs | undefined
}

/** For an order that is paid by a transfer. */
export interface TransferActs {
  /** What is bought. Null where the form has faults, which it then shows. */
  order(raw: Raw): Promise<{ input: Record<string, unknown>; choice: Choice; email?: string } | null>
  /** The order is fixed from now on, and this shows it. Null for the form again. */
  begun(shown: Drawn | null): void
  /** Shows the payment. */
  bought(id: string, token: string | null): void
}

/** The actions at a checkout. */
export interface Acts extends WalletActs {
  simulate(raw: Raw, outcome: SimulatedOutcome): void
  /** A code takes off the whole price. */
  takeFree(raw: Raw): void
  /** A pass or a trial takes the place of a payment. */
  use(raw: Raw, how: 'pass' | 'trial'): void
  enterEmail(email: string): void
  /** The form has other values, or the customer chose something about the price. */
  choose(raw: Raw, choice?: Choice): void
}

/** The actions at a gate: in test mode its owner's token stands in for a payment. */
export interface GateActs extends WalletActs {
  simulate(testToken: string): void
}
