import { exactTerms } from '../../chain/x402.ts'
import type { ToolOffer } from '../model/payment.ts'
import type { Upstream } from '../model/tool.ts'

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

/**
 * Whether a call may change something over there. The money for it is taken before the tool is asked, since what has
 * been done cannot be taken back when the money does not come.
 */
export function writes(upstream: Upstream): boolean {
  switch (upstream.kind) {
    case 'http':
      return upstream.method !== 'GET'
    case 'mcp':
      return upstream.readOnly !== true
    case 'rda':
      return true
  }
}
