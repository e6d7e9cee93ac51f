import type { CheckoutView, PaymentView } from '../checkouts/model.ts'
import type { FormField } from '../ui-kit/format.ts'

export type { SimulatedOutcome } from '../checkouts/model.ts'

/**
 * The page's data as JSON: all that the server-side rendering and the browser's script use. A gate provides the same,
 * as far as it applies to any purchase.
 */
export interface CheckoutPage extends Pick<CheckoutView, 'available' | 'quote'> {
  /** Absent at a gate, where no payment waits in the escrow. */
  prepared?: CheckoutView['prepared']
  checkout: Omit<CheckoutView['checkout'], 'status' | 'lifetime' | 'currency' | 'fields' | 'asset' | OfWorkflows> & {
    fields: readonly Field[]
    /** Absent at a gate, which is always paid before it answers. */
    capture?: CheckoutView['checkout']['capture']
    asset: Omit<CheckoutView['checkout']['asset'], 'decimals'>
  }
  /** How the last sales went; null while there are few. Absent at a gate. */
  trackRecord?: CheckoutView['trackRecord']
  /** What the customer signs; null in test mode. */
  paymentRequirements: { v2: Requirements } | null
}

type OfWorkflows = 'capture' | 'runSeconds'

/** One way to pay, in the format of x402 version 2. */
export type Requirements = NonNullable<CheckoutView['paymentRequirements']>['v2']

export type Field = FormField

/** The progress of a payment, as its URL returns it. */
export interface PaymentState {
  payment: Omit<PaymentView['payment'], 'checkoutId' | 'currency' | 'statusUrl'>
  delivery: Omit<NonNullable<PaymentView['delivery']>, 'id'> | null
}

/** One attempt to reach the workflow. */
export type Attempt = NonNullable<NonNullable<PaymentState['delivery']>['history']>[number]

/** A purchase that was not made at a checkout. */
export interface Receipt {
  id: string
  name: string
  status: string
  amount: number
  network: string
  txHash: string | null
  paidAt: string | null
  /** What went back of it, or is about to. */
  refunds: readonly { amount: number; state: string; txHash: string | null }[]
  /** The buyer's report of a problem with it. */
  dispute: { state: string; answer: string | null } | null
}

/** A page with only a message: the checkout does not exist, or an error occurred. */
export interface Message {
  title: string
  sentence: string
  /** Below the text, smaller. */
  note: string | null
  links?: readonly Link[]
}

interface Link {
  text: string
  href: string
  /** Saves the content under this name instead of opening it. */
  fileName: string | null
}

/** The signed forms of a receipt, as far as its page shows them. */
export interface SignedReceipt {
  jws: { signature: string }
  verifyUrl: string
}

/** The page that verifies signed receipts. */
export interface VerifyPage {
  /** The addresses of the published keys, by DID. */
  issuers: Readonly<Record<string, string>>
}

/** The document around every page. */
export interface Frame {
  scripts: readonly string[]
  styles: readonly string[]
  /** Tells the browser how far its own clock is off. */
  now: Date
}

/** The server-side renderer, as the build exports it. */
export interface Renderer {
  /** With a payment it shows the payment's progress in place of the form. */
  renderCheckout(page: CheckoutPage, payment: PaymentState | null, frame: Frame): string
  /** A price in front of an API; the page itself requests the purchased resource. */
  renderGate(page: CheckoutPage, frame: Frame): string
  renderVerify(page: VerifyPage, frame: Frame): string
  renderMessage(message: Message, frame: Frame): string
}
