import { networkOf } from '../../chain/networks.ts'
import { exactTerms, toHeader } from '../../chain/x402.ts'
import type { FieldType } from '../../kit/fields.ts'
import type { Checkout, Quote, RequirementsV1, RequirementsV2 } from '../model.ts'

/** What is to be signed, in either version. */
export function requirementsOf(checkout: Checkout, quote: Quote, address: string) {
  if (quote.recipient === null) return null
  const terms = exactTerms({ network: quote.network, recipient: quote.recipient, amount: quote.price })
  const v1: RequirementsV1 = {
    ...terms.v1,
    resource: address,
    description: checkout.product.name,
    mimeType: 'application/json',
    outputSchema: { input: inputSchema(checkout) },
  }
  const v2: RequirementsV2 = terms.v2
  return { v1, v2 }
}

/** What an agent has to send in the body. */
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

/** The header of version 2's clients. */
export function requiredHeader(product: string, v2: RequirementsV2, address: string, error: string): string {
  return toHeader({
    x402Version: 2,
    error,
    resource: { url: address, description: product, mimeType: 'application/json' },
    accepts: [v2],
  })
}

/** In which version a payload speaks, and of which network. */
export function readPayload(payload: unknown): { version: 1 | 2; network: Quote['network'] | null } {
  const said = (typeof payload === 'object' && payload !== null ? payload : {}) as {
    x402Version?: unknown
    network?: unknown
    accepted?: { network?: unknown } | null
  }
  const version = said.x402Version === 2 || (said.x402Version !== 1 && said.accepted != null) ? 2 : 1
  const name = version === 1 ? said.network : said.accepted?.network
  return { version, network: typeof name === 'string' ? (networkOf(name)?.name ?? null) : null }
}
