import type { FieldType } from '../../kit/fields.ts'
import type { Requirements } from '../../x402/model.ts'
import { requirementsOf as required } from '../../x402/requirements.ts'
import type { Checkout, Quote } from '../model.ts'

/** What to sign, in both versions of x402; null without a recipient. */
export function requirementsOf(checkout: Checkout, quote: Quote, address: string): Requirements | null {
  const { price: amount, network, recipient } = quote
  if (recipient === null) return null
  const resource = { url: address, description: checkout.product.name, mimeType: 'application/json' }
  return required({ amount, network, recipient }, resource, { input: inputSchema(checkout) })
}

/** The body that an agent has to send. */
function inputSchema({ fields }: Checkout): Readonly<Record<string, unknown>> {
  return {
    type: 'http',
    method: 'POST',
    bodyType: 'json',
    bodyFields: Object.fromEntries(
      fields.map(({ name, type, required, description, label, options }) => [
        name,
        { type: JSON_TYPES[type], required, description: description ?? label, ...(options ? { enum: options } : {}) },
      ]),
    ),
  }
}

const JSON_TYPES: Readonly<Record<FieldType, string>> = {
  text: 'string',
  textarea: 'string',
  number: 'number',
  boolean: 'boolean',
  select: 'string',
  url: 'string',
  email: 'string',
  json: 'object',
  file: 'string',
}
