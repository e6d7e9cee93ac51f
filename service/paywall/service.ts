import { paymentMissing, paywallMissing } from './errors.ts'
import type { Ask, Gate, GateRequest, HeaderList, Identity, Outcome, Payment } from './model.ts'
import type { PaymentStore, PaywallStore } from './ports.ts'
import { HELD_MS } from './rules/payment.ts'
import { IDENTITY_HEADER, signedIdentity } from './rules/identity.ts'
import { createGate } from './service/gate.ts'
import { createOwning, type OwnerParts } from './service/owner.ts'
import type { GateParts } from './service/parts.ts'
import type { createTally } from './service/tally.ts'

/** Prices on other people's APIs: what their owners say of them, and the gateway that asks for them. */
export function createPaywalls(parts: PaywallParts) {
  const { store, payments, clock, log, gateAddress } = parts
  const engine = createGate(parts)
  const owning = createOwning(parts)
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

    paymentOrNull: (id: string): Promise<Payment | null> => payments.findById(id),

    /** For whoever has its id: nothing of it is secret, it is on the chain. */
    async payment(id: string): Promise<Payment> {
      const payment = await payments.findById(id)
      if (payment === null) throw paymentMissing()
      return payment
    },

    /** Ends what ends by itself, also what a process left that is gone. */
    sweepers: {
      async payments(now: Date): Promise<void> {
        await payments.releaseLost(now)
        const open = await payments.takeOpen(now, AT_ONCE)
        const end = { delivery: 'none', hold: null } as const
        const outcomes = await Promise.allSettled(open.map((payment) => engine.settling.settle(payment, end, 0)))
        for (const [place, outcome] of outcomes.entries()) {
          if (outcome.status === 'rejected') {
            log.error({ payment: open[place]?.id, err: outcome.reason }, 'a payment could not be carried on')
          }
        }
      },
      holds: (now: Date): Promise<void> => payments.endHolds(now),
      answers: (now: Date): Promise<void> => payments.forgetAnswers(new Date(now.getTime() - HELD_MS)),
    },

    /** What was counted up to now is in the analytics then. */
    flush: (): Promise<void> => parts.tally.flush(),
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

interface PaywallParts extends Omit<GateParts, 'addresses'>, Omit<OwnerParts, 'addresses'> {
  store: PaywallStore
  payments: PaymentStore
  tally: ReturnType<typeof createTally>
  addresses: GateParts['addresses'] & OwnerParts['addresses']
  /** Of the gateway, without the slug. */
  gateAddress: string
}

const KNOWN_MS = 1_000
const GATES_MAX = 10_000
const AT_ONCE = 50
