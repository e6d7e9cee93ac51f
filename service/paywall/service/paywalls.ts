import { setTimeout as pause } from 'node:timers/promises'
import { paymentMissing, paywallMissing } from '../errors.ts'
import type { CallUpstream, Gate, GateRequest, HeaderList, Identity, Outcome, Payment } from '../model.ts'
import type { PaywallStore, PrepaidStore } from '../ports.ts'
import { paymentOf } from '../rules/payment.ts'
import { IDENTITY_HEADER, signedIdentity } from '../rules/headers.ts'
import { isId } from '../../kit/ids.ts'
import { withoutTrailing } from '../../kit/text.ts'
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

  /** Cached for a moment, because a request must not cost a query. Changes wait until no process has what was cached. */
  async function gateOf(slug: string): Promise<Opened> {
    const now = clock.now()
    const kept = gates.get(slug)
    const age = kept === undefined ? null : now.getTime() - kept.at.getTime()
    // A clock that was set back must not prolong it.
    if (kept !== undefined && age !== null && age >= 0 && age < KNOWN_MS) return await kept.opened
    const opened = open(slug, now)
    if (gates.size >= GATES_MAX) gates.clear()
    gates.set(slug, { at: now, opened })
    // A missing paywall is not cached, because it may be created at any moment.
    opened.catch(() => gates.delete(slug))
    return await opened
  }

  /** Answers a change once no gate serves the earlier state any more, in any process. */
  async function everywhere<Result>(change: Promise<Result>): Promise<Result> {
    const changed = await change
    gates.clear()
    await pause(KNOWN_MS + MARGIN_MS)
    return changed
  }

  async function open(slug: string, now: Date): Promise<Opened> {
    const stored = await store.bySlug(slug)
    if (stored === null) throw paywallMissing()
    const { gate, earlier, sealed } = stored
    const { headers, key } = owning.opened(gate.id, sealed)
    const upstream = new URL(gate.upstreamUrl)
    // Of our own configuration: the client chooses what its request names as the host.
    const { host, protocol } = new URL(gateAddress)
    return {
      gate: {
        ...gate,
        address: `${gateAddress}/${slug}`,
        earlier: earlier.filter(({ until }) => until > now).map(({ offered }) => offered),
        testToken: owning.testTokenOf(gate),
      },
      headers,
      upstream: { origin: upstream.origin, path: withoutTrailing(upstream.pathname, '/') },
      publicly: { host, secure: protocol === 'https:' },
      sign: (identity) => [IDENTITY_HEADER, signedIdentity(identity, key)],
    }
  }

  return {
    ...owning,
    change: (...change: Parameters<typeof owning.change>) => everywhere(owning.change(...change)),
    remove: (...removal: Parameters<typeof owning.remove>) => everywhere(owning.remove(...removal)),
    rotateSecret: (...rotation: Parameters<typeof owning.rotateSecret>) => everywhere(owning.rotateSecret(...rotation)),
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
  upstream: { origin: string; path: string }
  /** Under which host clients reach it. */
  publicly: { host: string; secure: boolean }
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

const KNOWN_MS = 250
/** Timers and clocks of two processes differ by less. */
const MARGIN_MS = 50
const GATES_MAX = 10_000

/** Longer than a sign-in can be used. */
const USED_MS = 600_000
