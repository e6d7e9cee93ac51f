import type { SignedAuthorization } from '../../chain/model.ts'
import type { Presented as AnyPresented } from '../../x402/model.ts'
import { presentedIn as anyPresentedIn } from '../../x402/payload.ts'
import { badPayment } from '../errors.ts'

/** The payment of a request. A gate accepts only signed authorizations. */
export type Presented = AnyPresented & { authorization: SignedAuthorization }

/** The payment in a request's headers; null when there is none. */
export function presentedIn(header: (name: string) => string | undefined): Presented | null {
  return signed(anyPresentedIn(header))
}

/** Throws for a payment that is not a signed authorization. */
export function signed(presented: AnyPresented | null): Presented | null {
  if (presented === null) return null
  const { field, authorization } = presented
  if (authorization === null) throw badPayment(field, 'must have a payload with an authorization (EIP-3009)')
  return { ...presented, authorization }
}
