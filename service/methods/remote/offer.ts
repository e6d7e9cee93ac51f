import { NETWORKS, networkOf } from '../../chain/networks.ts'
import type { Method } from '../../sales/ports.ts'
import type { RemoteDeps } from './deps.ts'
import { verifyRemotely } from './verify.ts'

/** New payments, which the facilitator with this address settles. */
export function offerRemote(deps: RemoteDeps, facilitator: string): Method {
  const { digestOf, digestBy } = deps
  return {
    digestOf: ({ network, authorization }) =>
      network === null || authorization === null ? null : digestOf(network, authorization),
    digestBy: (network, payer, nonce) => Promise.resolve(digestBy?.(NETWORKS[network], payer, nonce) ?? null),
    verify: (request) => verifyRemotely(deps, { facilitator, request }),
    choose: () => ({ method: 'remote', facilitator }),
    serves: (network) => networkOf(network) !== null,
  }
}
