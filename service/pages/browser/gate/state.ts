import type { CheckoutPage } from '../../model.ts'
import { firstState, type State } from '../checkout/state.ts'

/** A checkout's wallet and price, with what a gate answers instead of a receipt. */
export interface GateState extends State {
  /** Sent, and no answer yet; `slow` once that takes long. */
  sent: 'no' | 'yes' | 'slow'
  answer: Bought | null
}

export interface Bought {
  /** Null where it is not text: then it can be saved only. */
  text: string | null
  /** Of this page's memory. */
  href: string
  name: string
  paymentId: string | null
}

export function firstGateState(page: CheckoutPage): GateState {
  return { ...firstState(page, null), sent: 'no', answer: null }
}
