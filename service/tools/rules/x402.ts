import type { Requirements } from '../../x402/model.ts'
import { requirementsOf as required } from '../../x402/requirements.ts'
import type { ToolOffer } from '../model/payment.ts'
import type { Upstream } from '../model/tool.ts'

/** What is to be signed, in either version of x402. */
export function requirementsOf({ slug, name, address, amount, network, recipient, input }: ToolOffer): Requirements {
  const resource = { url: address, description: name, mimeType: 'application/json' }
  const described = { type: 'http', method: 'POST', bodyType: 'json', bodyFields: input['properties'] ?? {} }
  return required({ amount, network, recipient }, resource, { input: described, slug })
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
