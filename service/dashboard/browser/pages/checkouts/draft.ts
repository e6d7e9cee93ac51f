import type { Input, Output } from '../../api/procedures.ts'
import { toFieldDraft, toFields, type FieldDraft } from '../../parts/fields.ts'
import { orNull, toAmount } from '../../parts/texts.ts'

export type Checkout = Output<'checkouts.get'>
type Body = Input<'checkouts.create'>

/** A checkout in the form's state, under the names of the API's body. */
export interface Draft extends Pick<Body, 'network'> {
  product: { name: string; description: string }
  price: string
  fields: FieldDraft[]
  callbackUrl: string
  redirectUrl: string
  recipient: string
  responseMode: NonNullable<Body['responseMode']>
  capture: NonNullable<Body['capture']>
  runSeconds: string
  refundOnFailure: boolean
  preflight: boolean
  testMode: boolean
}

export function toDraft(checkout: Checkout | null): Draft {
  return {
    product: { name: checkout?.product.name ?? '', description: checkout?.product.description ?? '' },
    price: checkout === null ? '5' : String(checkout.price),
    fields: checkout?.fields.map(toFieldDraft) ?? [],
    callbackUrl: checkout?.callbackUrl ?? '',
    redirectUrl: checkout?.redirectUrl ?? '',
    network: checkout?.network ?? 'base-sepolia',
    recipient: checkout?.recipient ?? '',
    responseMode: checkout?.responseMode ?? 'immediately',
    capture: checkout?.capture ?? 'onPayment',
    runSeconds: String(checkout?.runSeconds ?? 180),
    refundOnFailure: checkout?.refundOnFailure ?? false,
    preflight: checkout?.preflight ?? false,
    testMode: checkout?.testMode ?? true,
  }
}

export function toBody(draft: Draft, before: Checkout | null) {
  const { product, price, fields, callbackUrl, redirectUrl, recipient, runSeconds, ...rest } = draft
  return {
    ...rest,
    product: { name: product.name, description: orNull(product.description) },
    price: toAmount(price),
    fields: toFields(fields, before?.fields),
    callbackUrl,
    redirectUrl: orNull(redirectUrl),
    recipient: orNull(recipient),
    runSeconds: toAmount(runSeconds),
    // A failure is not charged in the first place.
    refundOnFailure: rest.refundOnFailure && rest.capture === 'onPayment',
  } satisfies Body
}

/** What can be shown already, while the form is filled in. */
export function toPreview(draft: Draft): Input<'checkouts.preview'> {
  const { product, price, fields, network, recipient, responseMode, capture, testMode } = toBody(draft, null)
  return {
    network,
    recipient,
    responseMode,
    capture,
    testMode,
    product: { ...product, name: orNull(product.name) ?? 'Your product' },
    ...(price > 0 ? { price } : {}),
    fields: fields.filter(({ name, label }) => name !== '' && label !== ''),
  }
}
