import { paymentMissing, paywallMissing } from '../errors.ts'
import type { CallUpstream, Gate, GateRequest, HeaderList, Identity, Outcome, Payment } from '../model.ts'
import type { PaywallStore, PrepaidStore } from '../ports.ts'
import { paymentOf } from '../rules/payment.ts'
import { IDENTITY_HEADER, signedIdentity } from '../rules/headers.ts'
import { isId } from '../../kit/ids.ts'
import { createGate } from './gate.ts'
import { createOwning, type OwnerDeps } from './owner.ts'
import type { GateDeps } from './deps.ts'
import type { createTally } from './tally.ts'
import { createRouteTools } from './tools.ts'

/** Prices on other people's APIs: their owners' operations, and the gateway that charges for them. */
export function createPaywalls(deps: PaywallDeps) {
  const { store, prepaid, journal, clock, gateAddress } = deps
  const engine = createGate(deps)
  const owning = createOwning(deps)
  const gates = new Map<string, CachedPaywall>()

  /**
   * Cached for a second: a request must not cost a query, and a change may take that long to take effect everywhere.
   */
  async function gateOf(slug: string): Promise<Opened> {
    const now = clock.now()
    const kept = gates.get(slug)
    if (kept !== undefined && kept.at.getTime() > now.getTime() - KNOWN_MS) return await kept.opened
    const opened = open(slug, now)
    if (gates.size >= GATES_MAX) gates.clear()
    gates.set(slug, { at: now, opened })
    // A missing paywall is not cached, because it may be created at any moment.
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
    ...createRouteTools({ store, gateAddress }),
    gateOf,

    /** Sells one request whose payment is in no header. */
    counter: (gate: Gate, request: GateRequest, ask: CallUpstream) => engine.counter(gate, request, ask),

    serve: (gate: Gate, request: GateRequest, ask: CallUpstream, hops: number): Promise<Outcome> =>
      engine.serve(gate, request, ask, hops),

    /** Available to every client with the id: the payment is public on the chain. */
    async payment(id: string): Promise<Payment> {
      const sale = isId('pay', id) ? await journal.findById(id) : null
      if (sale?.product !== 'gate') throw paymentMissing()
      return paymentOf(sale)
    },

    /** Ends expired holds, including those of a process that is gone. */
    async endHolds(now: Date): Promise<void> {
      await prepaid.endHolds(now)
      await prepaid.forgetSignIns(new Date(now.getTime() - USED_MS))
    },

    /** Writes the counts so far, so that the analytics include them. */
    flush: (): Promise<void> => deps.tally.flush(),
  }
}

export type Paywalls = ReturnType<typeof createPaywalls>

/** A paywall with the secrets that only its gate may use. */
export interface Opened {
  gate: Gate
  headers: HeaderList
  sign(identity: Identity): readonly [string, string]
}

interface CachedPaywall {
  at: Date
  opened: Promise<Opened>
}

interface PaywallDeps extends Omit<GateDeps, 'addresses'>, Omit<OwnerDeps, 'addresses'> {
  store: PaywallStore
  prepaid: PrepaidStore
  tally: ReturnType<typeof createTally>
  addresses: GateDeps['addresses'] & OwnerDeps['addresses']
  /** The gateway's address, without a slug. */
  gateAddress: string
}

const KNOWN_MS = 1_000
const GATES_MAX = 10_000

/** Longer than a sign-in can be used. */
const USED_MS = 600_000
