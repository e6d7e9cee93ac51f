import type { CheckoutPage, PaymentState } from '../../model.ts'
import { inUsdc } from '../pay/amounts.ts'
import { networkName } from '../pay/networks.ts'
import type { Hex, Wallet } from '../pay/provider.ts'

/** All that the page shows follows from this. */
export interface State {
  page: CheckoutPage
  /** Null while it is not known yet which there are. */
  wallets: readonly Wallet[] | null
  account: Account | null
  doing: Doing | null
  /** By field. */
  errors: Readonly<Record<string, string>>
  notice: Notice | null
  /** From the moment that a payment may exist. */
  progress: Progress | null
  /** The checkout ended while the page was open. */
  gone: boolean
}

export interface Account {
  wallet: Wallet
  address: Hex
  chainId: number
  /** Of the token that is asked for; null while unknown. */
  balance: bigint | null
}

export type Doing = 'connecting' | 'switching' | 'looking' | 'signing' | 'sending'

export interface Notice {
  tone: 'plain' | 'bad'
  text: string
}

export interface Progress {
  /** Null while no answer has come: it was sent, and may be under way. */
  state: PaymentState | null
  slow: boolean
  /** Whether it came to its end while somebody watched. */
  live: boolean
}

/** What stands between the customer and the payment; the page offers the one act that takes it away. */
export type Hurdle = 'no-account' | 'wrong-network' | 'too-little' | null

export function hurdleOf({ page, account }: State): Hurdle {
  if (account === null) return 'no-account'
  if (account.chainId !== page.checkout.chainId) return 'wrong-network'
  const missing = missingOf(page, account)
  return missing !== null && missing > 0n ? 'too-little' : null
}

/** What the account lacks for this, in micro-USDC; null where that is not known. */
export function missingOf(page: CheckoutPage, account: Account): bigint | null {
  if (account.balance === null || page.paymentRequirements === null) return null
  const missing = BigInt(page.paymentRequirements.v2.amount) - account.balance
  return missing > 0n ? missing : 0n
}

export type Stage = 'confirming' | 'starting' | 'retrying' | 'started' | 'answered' | 'held' | 'failed'

export function stageOf({ state }: Progress): Stage {
  if (state === null || state.payment.status === 'created' || state.payment.status === 'settling') return 'confirming'
  if (state.payment.status === 'failed') return 'failed'
  const { delivery } = state
  switch (delivery?.status) {
    case 'delivered':
      return delivery.answer === null || delivery.answer === '' ? 'started' : 'answered'
    case 'unconfirmed':
    case 'stopped':
    case 'exhausted':
      return 'held'
    case undefined:
    default:
      return (delivery?.attempts ?? 0) >= 2 ? 'retrying' : 'starting'
  }
}

/** Nothing will change any more. */
export function isOver(progress: Progress): boolean {
  return !['confirming', 'starting', 'retrying'].includes(stageOf(progress))
}

export function isPaid({ state }: Progress): boolean {
  return state?.payment.status === 'paid'
}

/** The headline of a payment's way, and the line below it; a screen reader hears both. */
export function headlineOf(progress: Progress, { checkout }: CheckoutPage): { title: string; text: string } {
  const seller = checkout.product.name
  switch (stageOf(progress)) {
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
            ? `${seller} is at work. Its answer comes here, and may take a few minutes.`
            : `Starting ${seller}…`,
      }
    case 'retrying':
      return {
        title: 'Payment complete',
        text: `${seller} does not answer yet. We keep trying; you need not do anything.`,
      }
    case 'started':
      return { title: 'Payment complete', text: 'The workflow has started.' }
    case 'answered':
      return { title: 'Payment complete', text: 'The workflow has finished. This is its answer.' }
    case 'held':
      return {
        title: 'Payment complete',
        text: `${seller} has not confirmed that it started. The seller knows; keep the payment number below.`,
      }
    case 'failed':
      return {
        title: 'The payment did not go through',
        text: withoutCharge(progress.state?.payment.reason?.sentence ?? 'The network refused it.'),
      }
  }
}

/** What everybody wants to know who could not pay; said once, whoever says it. */
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
  }
}
