import { Departure } from '../../kit/departure.ts'
import { newId } from '../../kit/ids.ts'
import { looping, paywallPaused, routeMissing } from '../errors.ts'
import type { Ask, Gate, GateRequest, Outcome } from '../model.ts'
import { presentedIn } from '../rules/payload.ts'
import { isMetered } from '../rules/pricing.ts'
import { keyOf, routeOf, segmentsOf } from '../rules/routes.ts'
import { createBuying } from './buy.ts'
import { createCalling, type Call } from './call.ts'
import { createCarrying } from './carry.ts'
import { createMetering } from './metering.ts'
import { createOffering } from './offer.ts'
import type { GateParts } from './parts.ts'
import { createPrepaying } from './prepay.ts'
import { createSettling } from './settle.ts'
import { createSimulating } from './simulate.ts'

/** Decides what a request costs, takes the money, and passes it on: the same in the gateway and in the middleware. */
export function createGate(parts: GateParts) {
  const { tally, clock } = parts
  const settling = createSettling(parts)
  const offering = createOffering(parts)
  const calling = createCalling(parts)
  const metering = createMetering({ ...parts, calling })
  const carrying = createCarrying({ ...parts, settling, offering, calling, metering })
  const buying = createBuying({ ...parts, offering, carrying })
  const prepaying = createPrepaying({ ...parts, offering, metering, buying })
  const simulating = createSimulating({ ...parts, offering, calling })

  async function serve(gate: Gate, request: GateRequest, ask: Ask, hops = 0): Promise<Outcome> {
    const segments = segmentsOf(request.path)
    if (hops > HOPS_MAX) throw looping()
    if (gate.status === 'paused') throw paywallPaused()
    const route = routeOf(gate.routes, request.method, segments)
    if (route === null) throw routeMissing(request.method)
    const began = clock.now()
    const departure = new Departure(request.gone)
    const call: Call = { gate, route, request, ask, departure, id: newId('op', began), began }
    try {
      return await sell(call)
    } catch (error) {
      tally.count(gate.id, keyOf(route), outcomeOf(error))
      throw error
    }
  }

  async function sell(call: Call): Promise<Outcome> {
    const { gate, route, request } = call
    const { pricing } = route
    if (pricing.model === 'free') return await calling.free(call)
    if (gate.testMode) return await simulating.serve(call, pricing)
    const payment = request.header('x-payment-id')
    const token = request.header('x-payment-token')
    const presented = presentedIn(request.header)
    if (payment !== undefined) return await buying.follow(call, { payment, token, presented })
    if (token !== undefined && isMetered(pricing)) return await prepaying.byToken(call, pricing, token, presented)
    if (presented === null) return await offering.unpaid(call, pricing)
    return isMetered(pricing)
      ? await prepaying.bySignature(call, pricing, presented)
      : await buying.buy(call, pricing, presented)
  }

  return { serve, settling }
}

/** A paywall may stand before another one, but not before itself. */
const HOPS_MAX = 3

function outcomeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? code : 'failed'
}
