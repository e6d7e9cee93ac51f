import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { toJsonSchema } from '../../kit/fields.ts'
import { withoutTrailing } from '../../kit/text.ts'
import type { CheckoutView } from '../model.ts'

/** A checkout as a tool for models. `isGuest`: each call is paid by itself, without an account. */
export function toolOf({ product, price, fields, testMode }: CheckoutView['checkout'], isGuest: boolean): Tool {
  const { name, description } = product
  const cost = testMode ? 'In test mode: nothing is charged.' : `Costs ${String(price)} USDC a call.`
  return {
    name: toolNameOf(name),
    title: name,
    description: `${description ?? name}\n${cost}`,
    inputSchema: toJsonSchema(fields) as Tool['inputSchema'],
    annotations: { openWorldHint: true, readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    _meta: {
      'coinslot/price': String(price),
      ...(isGuest && !testMode ? { 'agents-x402/paymentRequired': true, 'agents-x402/priceUSD': price } : {}),
    },
  }
}

/** The product's name in the letters that every client accepts. */
export function toolNameOf(product: string): string {
  const latin = product
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036F]/g, '')
  const words = latin.split(/[^a-z0-9]+/).filter((word) => word !== '')
  return withoutTrailing(words.join('-').slice(0, LONGEST), '-') || 'buy'
}

/** Clients refuse longer names. */
const LONGEST = 64
