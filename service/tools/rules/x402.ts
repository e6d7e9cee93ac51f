import { exactTerms } from '../../chain/networks.ts'
import { invalid } from '../../kit/errors.ts'
import type { ToolOffer } from '../model/payment.ts'

/** What is to be signed, in either version of x402. */
export function requirementsOf({ slug, name, address, amount, network, recipient, input }: ToolOffer) {
  const { v1, v2 } = exactTerms({ network, recipient, amount })
  return {
    v1: {
      ...v1,
      resource: address,
      description: name,
      mimeType: 'application/json',
      outputSchema: {
        input: { type: 'http', method: 'POST', bodyType: 'json', bodyFields: input['properties'] ?? {} },
        slug,
      },
    },
    v2,
  }
}

export interface Presented {
  payload: unknown
  version: 1 | 2
}

/** What a request pays with, in either version's header; null when it does not. */
export function presentedIn(header: (name: string) => string | undefined): Presented | null {
  for (const [version, name] of [
    [2, 'payment-signature'],
    [1, 'x-payment'],
  ] as const) {
    const text = header(name)
    if (text !== undefined) return { payload: fromHeader(name, text), version }
  }
  return null
}

function fromHeader(name: string, text: string): unknown {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as unknown
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Said below.
  }
  throw invalid({ [name]: 'must be base64 of a JSON object' }, 'invalid_payment')
}
