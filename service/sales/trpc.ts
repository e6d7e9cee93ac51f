import { person, router } from '../api/trpc.ts'
import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import type { Method } from './ports.ts'

type Served = Pick<Method, 'serves'>

/** The dashboard's procedures for what this server can do, whoever asks. */
export function settingsRouter({ method, gateMethod }: { method: Served; gateMethod: Served }) {
  return router({
    /** The networks on which buyers can pay now. What is sold on another one is not available to them. */
    served: person.query(() => ({ checkouts: networksOf(method), paywalls: networksOf(gateMethod) })),
  })
}

function networksOf(method: Served): NetworkName[] {
  return Object.values(NETWORKS).flatMap(({ name }) => (method.serves(name) ? [name] : []))
}
