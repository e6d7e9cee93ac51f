import { paymentMissing, paywallMissing } from './errors.ts'
import type { Ask, Gate, GateRequest, HeaderList, Identity, Outcome, Payment } from './model.ts'
import type { PaywallStore, PrepaidStore } from './ports.ts'
import { paymentOf } from './rules/payment.ts'
import { IDENTITY_HEADER, signedIdentity } from './rules/identity.ts'
import { isId } from '../kit/ids.ts'
import { createGate } from './service/gate.ts'
import { createOwning, type OwnerDeps } from './service/owner.ts'
import type { GateDeps } from './service/parts.ts'
import type { createTally } from './service/tally.ts'

/** Prices on other people's APIs: what their owners say of them, and the gateway that asks for them. */
export function createPaywalls(deps: PaywallDeps) {
  const { store, prepaid, books, clock, gateAddress } = deps
  const engine = createGate(deps)
  const owning = createOwning(deps)
  const gates = new Map<string, Kept>()

  /** Known for a second: a request must not cost a row, and a change may take that long to be seen everywhere. */
  async function gateOf(slug: string): Promise<Opened> {
    const now = clock.now()
    const kept = gates.get(slug)
    if (kept !== undefined && kept.at.getTime() > now.getTime() - KNOWN_MS) return await kept.opened
    const opened = open(slug, now)
    if (gates.size >= GATES_MAX) gates.clear()
    gates.set(slug, { at: now, opened })
    // What is not there is not kept: somebody may be making it just now.
    opened.catch(() => gates.delete(slug))
    return await opened
  }

  async function open(slug: string, now: Date): Promise<Opened> {
    const stored = await store.bySlug(slug)
    if (stored === null) throw paywallMissing()
    const { gate, earlier, sealed } = stored
    const { headers, key } = owning.opened(gate.id, sealed)
    return {
      gate: {
        ...gate,
        address: `${gateAddress}/${slug}`,
        earlier: earlier.filter(({ until }) => until > now).map(({ offered }) => offered),
        testToken: owning.testTokenOf(gate),
      },
      headers,
      sign: (identity) => [IDENTITY_HEADER, signedIdentity(identity, key)],
    }
  }

  return {
    ...owning,
    gateOf,

    serve: (gate: Gate, request: GateRequest, ask: Ask, hops: number): Promise<Outcome> =>
      engine.serve(gate, request, ask, hops),

    /** For whoever has its id: nothing of it is secret, it is on the chain. */
    async payment(id: string): Promise<Payment> {
      const sale = isId('pay', id) ? await books.findById(id) : null
      if (sale?.product !== 'gate') throw paymentMissing()
      return paymentOf(sale)
    },

    /** Ends what ends by itself, also what a process left that is gone. */
    sweepers: {
      holds: (now: Date): Promise<void> => prepaid.endHolds(now),
    },

    /** What was counted up to now is in the analytics then. */
    flush: (): Promise<void> => deps.tally.flush(),
  }
}

export type Paywalls = ReturnType<typeof createPaywalls>

/** A paywall with what only its gate may know. */
export interface Opened {
  gate: Gate
  headers: HeaderList
  sign(identity: Identity): readonly [string, string]
}

interface Kept {
  at: Date
  opened: Promise<Opened>
}

interface PaywallDeps extends Omit<GateDeps, 'addresses'>, Omit<OwnerDeps, 'addresses'> {
  store: PaywallStore
  prepaid: PrepaidStore
  tally: ReturnType<typeof createTally>
  addresses: GateDeps['addresses'] & OwnerDeps['addresses']
  /** Of the gateway, without the slug. */
  gateAddress: string
}

const KNOWN_MS = 1_000
const GATES_MAX = 10_000
