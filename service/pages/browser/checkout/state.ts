import type { Attempt, CheckoutPage, PaymentState, SimulatedOutcome } from '../../model.ts'
import { inUsdc } from '../../../ui-kit/format.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import type { Hex, Wallet } from '../../../ui-kit/provider.ts'
import type { Raw } from './form.ts'
import type { Order, OrderEnd } from './order.ts'

/** The page's complete state. */
export interface State {
  page: CheckoutPage
  /** Null until it is known which wallets there are. */
  wallets: readonly Wallet[] | null
  account: Account | null
  doing: Doing | null
  /** By field. */
  errors: Readonly<Record<string, string>>
  notice: Notice | null
  /** Set from the moment that a payment may exist. */
  progress: Progress | null
  /** The checkout ended while the page was open. */
  gone: boolean
  /** An assistant's call, which the page was opened to pay for. */
  order: Order | null
  /** Why the order cannot be paid. */
  orderEnd: OrderEnd | null
}

export interface Account {
  wallet: Wallet
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

/** `ordered`: the work is under way and not paid yet. `returning`: it has failed, and the money goes back. `held`: started and not confirmed. `broken`: started, and failed. `undelivered`: no attempt follows. */
export type Stage =
  | 'ordered'
  | 'returning'
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
  switch (delivery?.status) {
    case 'delivered':
      return delivery.answer === null || delivery.answer === '' ? 'started' : 'answered'
    case 'claimed':
      return 'working'
    case 'unconfirmed':
      return delivery.lastStatus === null ? 'held' : 'broken'
    case 'stopped':
    case 'exhausted':
      return 'undelivered'
    case undefined:
    default:
      return hasFailedTry(delivery) ? 'retrying' : 'starting'
  }
}

/** An attempt is counted when it begins: the first one has failed if it left a result, or if a second one has begun. */
function hasFailedTry(delivery: PaymentState['delivery']): boolean {
  if (delivery === null) return false
  return delivery.attempts >= 2 || delivery.lastStatus !== null || delivery.lastError !== null
}

/** No further change is expected. */
export function isOver(progress: Progress): boolean {
  return !['ordered', 'returning', 'confirming', 'starting', 'retrying', 'working'].includes(stageOf(progress))
}

export function isPaid({ state }: Progress): boolean {
  return state?.payment.status === 'paid'
}

/** The headline for a payment's progress, and the line below it; a screen reader announces both. */
export function headlineOf(progress: Progress, { checkout }: CheckoutPage): { title: string; text: string } {
  const seller = checkout.product.name
  switch (stageOf(progress)) {
    case 'ordered':
      return {
        title: 'Your order is being prepared',
        text:
          progress.state?.payment.escrow == null
            ? 'You are charged only if it succeeds. The result appears here.'
            : 'Your money waits in a contract. The seller gets it only if your order succeeds. The result appears here.',
      }
    case 'returning':
      return { title: 'Your order could not be completed', text: 'Your money is on its way back to your wallet.' }
    case 'confirming':
      return progress.slow
        ? {
            title: 'Still confirming your payment',
            text: 'This takes longer than usual. You are never charged twice: leave this page open, or come back to it later.',
          }
        : {
            title: checkout.testMode ? 'Simulating your payment' : 'Confirming your payment',
            text: checkout.testMode
              ? 'A moment, please.'
              : `Settling on ${networkName(checkout.chainId)}. This takes a few seconds.`,
          }
    case 'starting':
      return {
        title: 'Payment complete',
        text:
          checkout.responseMode === 'lastNode'
            ? `Starting ${seller}… The answer appears here and may take a few minutes.`
            : `Starting ${seller}…`,
      }
    case 'working':
      return {
        title: 'Payment complete',
        text:
          checkout.responseMode === 'lastNode'
            ? `${seller} is running. The answer appears here and may take a few minutes.`
            : `${seller} has started.`,
      }
    case 'retrying':
      return {
        title: 'Payment complete',
        text: `${seller} did not accept the order yet. We keep trying; you do not need to do anything.`,
      }
    case 'started':
      return { title: 'Payment complete', text: 'The workflow has started.' }
    case 'answered':
      return { title: 'Payment complete', text: 'The workflow has finished. Here is its answer.' }
    case 'held':
      return {
        title: 'Payment complete',
        text: `${seller} has started but has not confirmed that it finished. The seller has been notified; keep the payment number below.`,
      }
    case 'broken':
      return {
        title: 'Paid, but the workflow failed',
        text: `${seller} has started and reported an error. The seller has been notified; keep the payment number below.`,
      }
    case 'undelivered':
      if (isSimulatedFailure(progress)) {
        return {
          title: 'Paid, but not delivered',
          text: `You chose a delivery that fails, so ${seller} was not called and there are no more attempts. With real money, a failing delivery is attempted ten times within two days.`,
        }
      }
      return {
        title: 'Paid, but not delivered',
        text: `${seller} did not accept the order, and there are no more attempts. The seller has been notified; keep the payment number below.`,
      }
    case 'failed':
      return {
        title: isUndone(progress) ? 'Your order could not be completed' : 'The payment did not go through',
        text: isReclaimable(progress)
          ? (progress.state?.payment.reason?.sentence ?? '')
          : withoutCharge(progress.state?.payment.reason?.sentence ?? 'The network refused it.'),
      }
  }
}

/** The money left the wallet and was neither charged nor given back. */
function isReclaimable({ state }: Progress): boolean {
  return state?.payment.escrow?.state === 'reclaimable'
}

/** The work failed, not the payment. */
function isUndone({ state }: Progress): boolean {
  return state?.payment.reason?.code.startsWith('workflow_') === true
}

/** In test mode: the person who tests the checkout chose this outcome, and the seller gets no notice. */
function isSimulatedFailure({ state }: Progress): boolean {
  return state?.delivery?.lastError === SIMULATED_FAILURE
}

/** Why an attempt failed, for a person who tests the checkout; null for an attempt that succeeded. */
export function faultOf({ status, error }: Attempt): string | null {
  if (error !== null) return FAULTS[error] ?? `The attempt failed: ${error}.`
  if (status === null) return 'There was no answer.'
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'HTTP 410: it accepts no more deliveries.'
  if (status === 404) return 'HTTP 404: there is no workflow at this address, or it is not active.'
  return `HTTP ${String(status)}: it did not accept the delivery.`
}

const SIMULATED_FAILURE = 'simulated_failure'
const FAULTS: Readonly<Record<string, string>> = {
  [SIMULATED_FAILURE]: 'Simulated: the workflow was not called.',
  address_refused: 'Its address cannot be called.',
  address_unresolvable: 'Its host was not found.',
  certificate_refused: 'Its certificate is not valid.',
  connect_timeout: 'The connection timed out.',
  connection_failed: 'The connection failed.',
  response_invalid: 'It did not answer with valid HTTP.',
  response_timeout: 'It did not answer in time.',
}

/** Adds that nothing was charged, unless the message already contains it. */
export function withoutCharge(sentence: string): string {
  return sentence.includes(NO_CHARGE) ? sentence : `${sentence} ${NO_CHARGE}`
}

const NO_CHARGE = 'Nothing was charged.'

export function priceOf({ checkout }: CheckoutPage): string {
  return `${inUsdc(checkout.price)} USDC`
}

export function firstState(page: CheckoutPage, payment: PaymentState | null): State {
  return {
    page,
    wallets: null,
    account: null,
    doing: null,
    errors: {},
    notice: null,
    progress: payment === null ? null : { state: payment, slow: false, live: false },
    gone: false,
    order: null,
    orderEnd: null,
  }
}

/** The customer's actions. */
export interface WalletActs {
  pay(raw: Raw): void
  connect(wallet: Wallet): void
  switchNetwork(): void
  look(): void
  changeWallet(): void
  again(): void
  retry(): void
}

/** The actions at a checkout. */
export interface Acts extends WalletActs {
  simulate(raw: Raw, outcome: SimulatedOutcome): void
}

/** The actions at a gate: in test mode its owner's token stands in for a payment. */
export interface GateActs extends WalletActs {
  simulate(testToken: string): void
}
