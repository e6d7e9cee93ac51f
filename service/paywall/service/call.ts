import type { PurchaseRequest as Buyer } from '../../sales/service/deps.ts'
import { Departure } from '../../kit/departure.ts'
import { DomainError } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import { ZERO } from '../../kit/money.ts'
import { looping, paywallPaused, routeMissing, upstreamCompressed, upstreamFailed } from '../errors.ts'
import type {
  CallUpstream,
  Gate,
  GateRequest,
  HeaderList,
  Identity,
  Outcome,
  Payment,
  Route,
  UpstreamAnswer,
} from '../model.ts'
import { headerIn } from '../rules/headers.ts'
import { isSuccess, NO_BODY_HASH } from '../rules/payment.ts'
import type { Tally } from '../ports.ts'
import { keyOf, routeOf, segmentsOf } from '../rules/routes.ts'
import { discard, gather, type Gathered } from './answer.ts'
import { watched, type WatchedBody } from './body.ts'
import type { GateDeps } from './deps.ts'

/** One request at one gate. */
export interface Call extends Buyer {
  gate: Gate
  route: Route
  request: GateRequest
  ask: CallUpstream
  began: Date
  /** Why this is not for sale now: only what was bought before is handed over. Null where it is. */
  refusal: DomainError | null
}

/** The call that a request makes of its route. */
export function callOf(incoming: Incoming, began: Date): Call {
  const { gate, request, hops } = incoming
  const segments = segmentsOf(request.path)
  if (hops > HOPS_MAX) throw looping()
  if (gate.status === 'paused') return callAt(NO_ROUTE, incoming, began, paywallPaused())
  const route = routeOf(gate.routes, request.method, segments)
  if (route === null) return callAt(NO_ROUTE, incoming, began, routeMissing(request.method))
  // Without a payment a free route is the same in test mode.
  const isTest = gate.testMode && route.pricing.model !== 'free'
  return callAt(route, incoming, began, isTest ? paywallPaused() : null)
}

/** Stands for the route of a sale that is handed over, and sold no more. */
export const NO_ROUTE = {
  method: '*',
  path: '/*',
  pricing: { model: 'per-request', amount: ZERO },
  description: null,
  settle: 'after',
  paymentIdentifier: 'optional',
  signIn: null,
} as const satisfies Route

export function callAt(route: Route, { gate, request, ask }: Incoming, began: Date, refusal: DomainError | null): Call {
  return {
    refusal,
    gate,
    request,
    ask,
    route,
    began,
    operation: newId('op', began),
    departure: new Departure(request.gone),
    presented: null,
    token: null,
    payment: null,
  }
}

export interface Incoming extends Pick<Call, 'gate' | 'request' | 'ask'> {
  /** How often the request has passed through a gate. */
  hops: number
}

/** A paywall may be in front of another one, but not in front of itself. */
const HOPS_MAX = 3

/** Counts why a call failed. */
export async function counted<T>(tally: Tally, { gate, route }: Call, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    tally.count(gate.id, keyOf(route), error instanceof DomainError ? error.code : 'failed')
    throw error
  }
}

export interface Calling {
  /** Without a payment. The payer is known when it has signed in. */
  free(call: Call, payer?: string | null): Promise<Outcome>
  /** Calls the upstream. A successful answer can be sold; any other is passed on free of charge. */
  paid(call: Call, who: Who): Promise<Sellable | { failed: Outcome }>
}

export interface Who {
  payment: Payment['id'] | null
  payer: string | null
  amount: Identity['amount']
  state: Identity['state']
  /** The answer's usage is measured. */
  measured: boolean
  /**
   * Binds the payment to the request's body; rejects if it is bound to another one. Null if the call draws from a
   * balance.
   */
  bind: ((hash: Buffer) => Promise<void>) | null
}

export interface Sellable {
  failed: null
  gathered: Gathered
  sent: WatchedBody | null
  /** How long the upstream had it before there was an answer to sell. What is priced by time is counted from there. */
  upstreamMs: number
}

/** Passes requests through the gate to the upstream. */
export function createCalling({ tally, clock, limits }: GateDeps): Calling {
  function identityOf({ gate, route, request, operation: id }: Call, who: Who): Identity {
    return {
      paywall: gate.id,
      call: id,
      payment: who.payment,
      payer: who.payer,
      amount: who.amount,
      pricing: route.pricing.model,
      state: who.state,
      endpoint: endpointOf(request),
      at: clock.now(),
    }
  }

  async function reach(call: Call, asked: Parameters<CallUpstream>[0]): Promise<UpstreamAnswer> {
    try {
      return await call.ask(asked)
    } catch (error) {
      throw upstreamFailed(error)
    }
  }

  return {
    async free(call, payer = null) {
      const { request, gate, route } = call
      const state = payer === null ? 'free' : 'signed-in'
      const who: Who = { payment: null, payer, amount: null, state, measured: false, bind: null }
      const answer = await reach(call, {
        body: request.body,
        payment: identityOf(call, who),
        plain: false,
        signal: request.gone,
      })
      tally.count(gate.id, keyOf(route), isSuccess(answer.status) ? 'answered' : 'upstream_error')
      return passedOn(answer)
    },

    async paid(call, who) {
      const { request } = call
      const { bind, measured } = who
      if (request.body === null) await bind?.(NO_BODY_HASH)
      const length = Number(request.header('content-length') ?? NaN)
      const binding = bind === null ? null : { bind, length: Number.isFinite(length) ? length : null }
      const sent = watched(request.body, limits.bodyBytes, measured ? MEASURED_BYTES : 0, binding)
      const payment = identityOf(call, who)
      call.departure.leave()
      const { signal } = call.departure
      const asked = clock.now().getTime()
      const answer = await reach(call, { body: sent, payment, plain: who.measured, signal })
      if (!isSuccess(answer.status)) return { failed: passedOn(answer) }
      if (measured && call.route.pricing.model !== 'per-minute' && isCompressed(answer)) {
        discard(answer)
        throw upstreamCompressed()
      }
      try {
        const gathered = await gather(answer, limits)
        return { failed: null, gathered, sent, upstreamMs: clock.now().getTime() - asked }
      } catch (error) {
        throw upstreamFailed(error)
      }
    },
  }
}

function isCompressed({ headers }: UpstreamAnswer): boolean {
  return /\b(x-)?(gzip|compress|deflate|br|zstd)\b/i.test(headerIn(headers, 'content-encoding') ?? '')
}

const MEASURED_BYTES = 1_048_576

/** For events and records: without the query, which may contain secrets. */
export function endpointOf({ method, path }: GateRequest): string {
  return `${method} ${path}`.slice(0, 500)
}

/** The upstream's answer, unchanged. */
function passedOn({ status, headers, body, trailers, tunnel }: UpstreamAnswer): Outcome {
  return tunnel === null ? { status, headers, body, trailers } : { status, headers, body, trailers, tunnel }
}

/** The address that is paid for. */
export function resourceOf({ gate, request }: Pick<Call, 'gate' | 'request'>): string {
  return gate.address + request.path + request.query
}

/** The sold answer with the payment's headers. */
export function soldOutcome(gathered: Gathered, more: HeaderList): Outcome {
  if (gathered.kind === 'tunnel') {
    const { answer } = gathered
    return { ...passedOn(answer), headers: [...answer.headers, ...more] }
  }
  const { status, headers, body, trailers } = gathered
  return { status, headers: [...headers, ...more], body, trailers }
}
