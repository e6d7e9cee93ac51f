import { toJsonSchema } from '../../kit/fields.ts'
import type { Offer } from '../../sales/model.ts'
import type { Checkout, Quote } from '../model.ts'

/** What a buyer signs for at this quote; null without a recipient. */
export function offerOf({ id, product, fields }: Checkout, quote: Quote, address: string): Offer | null {
  const { price: amount, network, recipient } = quote
  if (recipient === null) return null
  return { slug: id, name: product.name, address, amount, network, recipient, input: toJsonSchema(fields) }
}
