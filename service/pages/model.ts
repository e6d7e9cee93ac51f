import type { CheckoutView, PaymentView } from '../checkouts/views.ts'
import type { Language } from '../kit/language.ts'
import type { FormField } from '../ui-kit/format.ts'
import type { LocalMoney } from './rates.ts'

export type { SimulatedOutcome } from '../methods/simulated/outcome.ts'

/**
 * The page's data as JSON: all that the server-side rendering and the browser's script use. A gate provides the same,
 * as far as it applies to any purchase.
 */
export interface CheckoutPage extends Pick<CheckoutView, 'available' | 'quote'> {
  /** Absent at a gate, whose price has no choice. */
  lines?: CheckoutView['lines']
  /** Absent at a gate, where no payment waits in the escrow. */
  prepared?: CheckoutView['prepared']
  checkout: Omit<CheckoutView['checkout'], 'status' | 'lifetime' | 'currency' | 'fields' | 'asset' | OfWorkflows> & {
    fields: readonly Field[]
    /** Absent at a gate. */
    pricing?: CheckoutView['checkout']['pricing']
    /** Absent at a gate. */
    coupons?: boolean
    /** Absent at a gate. */
    transfers?: boolean
    trialRuns?: number
    plans?: CheckoutView['checkout']['plans']
    chat?: CheckoutView['checkout']['chat']
    /** Absent at a gate, which is always paid before it answers. */
    capture?: CheckoutView['checkout']['capture']
    /** Absent at a gate. */
    after?: CheckoutView['checkout']['after']
    picture?: CheckoutView['checkout']['picture']
    asset: Omit<CheckoutView['checkout']['asset'], 'decimals'>
  }
  /** What its reader's currency is worth. Null, and absent, where that is not known. */
  local?: LocalMoney | null
  /** How the seller shows itself. */
  brand?: CheckoutView['brand']
  /** How the last sales went; null while there are few. Absent at a gate. */
  trackRecord?: CheckoutView['trackRecord']
  /** What the customer signs; null in test mode. */
  paymentRequirements: { v2: Requirements } | null
}

type OfWorkflows =
  'capture' | 'runSeconds' | 'trialRuns' | 'plans' | 'after' | 'picture' | 'pricing' | 'coupons' | 'chat' | 'transfers'

/** One way to pay, in the format of x402 version 2. */
export type Requirements = NonNullable<CheckoutView['paymentRequirements']>['v2']

/** A pass, as a payment or the service shows it. */
export type PassState = NonNullable<PaymentView['payment']['pass']>

/** What went back of a payment, is about to, or did not. */
export type RefundState = PaymentView['payment']['refunds'][number]

export type Field = FormField

/** The progress of a payment, as its URL returns it. */
export interface PaymentState {
  payment: Omit<PaymentView['payment'], 'checkoutId' | 'currency' | 'statusUrl'>
  delivery: Omit<NonNullable<PaymentView['delivery']>, 'id'> | null
  /** Absent at a gate, which answers itself. */
  result?: PaymentView['result']
  /** Absent at a gate. */
  requests?: PaymentView['requests']
}

/** A further amount that the buyer is asked for. */
export type RequestState = PaymentView['requests'][number]

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
  refunds: readonly RefundState[]
  /** How its seller shows itself. */
  brand: CheckoutView['brand']
  /** The buyer's report of a problem with it. */
  dispute: { state: string; answer: string | null } | null
}

/** An error of the service, shown as a page. */
export interface PageError {
  status: number
  code: string
  sentence: string
  /** In a frame: the checkout that has ended. */
  checkout?: string
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

/** The site that shows a checkout in a frame. `tab`: this page is open beside the frame, where more wallets work. */
export interface Embed {
  origin: string
  tab: boolean
}

/** The document around every page. */
export interface Frame {
  /** The seller's colours, as a style whose hash is in the policy; null, and absent, for the page's own. */
  style?: string | null
  language: Language
  /** Null, and absent, where the page stands alone. */
  embed?: Embed | null
  /** The template of a place that sells USDC. */
  onramp?: string | null
  /** Whether people may pay with a passkey. */
  passkeys?: boolean
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
  /** The page of a passkey's wallet: all of it is the browser's. */
  renderWallet(frame: Frame): string
  renderVerify(page: VerifyPage, frame: Frame): string
  /** A payment whose checkout has ended: only how it stands. */
  renderPayment(payment: PaymentState, frame: Frame): string
  /** A purchase that was not made at a checkout. */
  renderReceipt(receipt: Receipt, signed: SignedReceipt | null, frame: Frame): string
  renderError(error: PageError, frame: Frame): string
}
