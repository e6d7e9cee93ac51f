/**
 * What the page is given, as JSON: both halves of it speak of nothing else, the one that renders here and the one
 * that runs in the customer's browser.
 */
export interface CheckoutPage {
  checkout: {
    id: string
    url: string
    x402Url: string
    testMode: boolean
    product: { name: string; description: string | null }
    price: number
    network: string
    chainId: number
    /** Null where nothing will ever be paid to: in test mode. */
    recipient: string | null
    asset: { address: string; name: string; version: string; decimals: number }
    fields: readonly Field[]
    redirectUrl: string | null
    responseMode: 'immediately' | 'lastNode'
    /** The block explorer's address. */
    explorer: string
  }
  /** False while the workflow cannot take what was paid for. */
  available: boolean
  quote: { quoteId: string; expiresAt: string }
  /** What the customer signs for; null in test mode. */
  paymentRequirements: { v2: Requirements } | null
}

/** One way to pay, in the words of x402 version 2. */
export interface Requirements {
  scheme: string
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: { name: string; version: string }
}

export interface Field {
  name: string
  label: string
  type: FieldType
  required: boolean
  placeholder?: string | null
  description?: string | null
  options?: readonly string[] | null
  default?: unknown
  min?: number | null
  max?: number | null
  pattern?: string | null
  /** What its seller says to who does not match it. */
  patternMessage?: string | null
}

export type FieldType = 'text' | 'textarea' | 'number' | 'boolean' | 'select' | 'url' | 'email' | 'json' | 'file'

/** How a payment of test mode ends; its customer chooses. */
export type SimulatedOutcome = 'paid' | 'declined' | 'insufficient_funds' | 'slow' | 'delivery_failed'

/** How far a payment has come, as its address tells it. */
export interface PaymentState {
  payment: {
    id: string
    /** `created` and `settling` are on their way, whatever time they take. */
    status: 'created' | 'settling' | 'paid' | 'failed'
    amount: number
    network: string
    payer: string
    txHash: string | null
    explorerUrl: string | null
    reason: { code: string; sentence: string } | null
    testMode: boolean
    createdAt: string
    paidAt: string | null
    /** Where the customer goes from here, with the ids in it. */
    redirectUrl: string | null
    /** Shows all of it again; null for who has not proved to be the buyer. */
    token: string | null
  }
  /** Null until it is paid. */
  delivery: {
    status: string
    attempts: number
    lastStatus: number | null
    /** In test mode alone. */
    lastError: string | null
    nextAttemptAt: string | null
    /** In test mode alone. */
    history: readonly Attempt[] | null
    answer: string | null
  } | null
}

/** One attempt to reach the workflow. */
export interface Attempt {
  at: string
  /** Null where no answer came; `error` says why. */
  status: number | null
  error: string | null
}

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
