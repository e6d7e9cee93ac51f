import { exactTerms } from '../../chain/x402.ts'
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
