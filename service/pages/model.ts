import type { CheckoutView, PaymentView } from '../checkouts/model.ts'
import type { FormField } from '../ui-kit/format.ts'

export type { SimulatedOutcome } from '../checkouts/model.ts'

/**
 * What the page is given, as JSON: both halves of it speak of nothing else, the one that renders here and the one
 * that runs in the customer's browser. A gate gives the same, for what a purchase of any kind needs.
 */
export interface CheckoutPage extends Pick<CheckoutView, 'available' | 'quote'> {
  checkout: Omit<CheckoutView['checkout'], 'status' | 'lifetime' | 'currency' | 'fields' | 'asset'> & {
    fields: readonly Field[]
    asset: Omit<CheckoutView['checkout']['asset'], 'decimals'>
  }
  /** What the customer signs for; null in test mode. */
  paymentRequirements: { v2: Requirements } | null
}

/** One way to pay, in the words of x402 version 2. */
export type Requirements = NonNullable<CheckoutView['paymentRequirements']>['v2']

export type Field = FormField

/** How far a payment has come, as its address tells it. */
export interface PaymentState {
  payment: Omit<PaymentView['payment'], 'checkoutId' | 'currency' | 'statusUrl' | 'receiptUrl'>
  delivery: Omit<NonNullable<PaymentView['delivery']>, 'id'> | null
}

/** One attempt to reach the workflow. */
export type Attempt = NonNullable<NonNullable<PaymentState['delivery']>['history']>[number]

/** A purchase elsewhere than at a checkout. */
export interface Receipt {
  id: string
  name: string
  status: string
  amount: number
  network: string
  txHash: string | null
  paidAt: string | null
}

/** A page that only says something: there is no such checkout, or it went wrong. */
export interface Message {
  title: string
  sentence: string
  /** Below them, smaller. */
  note: string | null
}

/** What every page is set into. */
export interface Frame {
  scripts: readonly string[]
  styles: readonly string[]
  /** Tells the browser by how much its own clock is wrong. */
  now: Date
}

/** The half that renders here, as the build exports it. */
export interface Renderer {
  /** With a payment: what became of it instead of the form. */
  renderCheckout(page: CheckoutPage, payment: PaymentState | null, frame: Frame): string
  /** A price in front of an API; what is paid for is asked for by the page itself. */
  renderGate(page: CheckoutPage, frame: Frame): string
  renderMessage(message: Message, frame: Frame): string
}
