import type { Id } from '../../kit/ids.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { ToolOffer } from '../../sales/model.ts'
import { paywallMissing } from '../errors.ts'
import type { Offered, Paywall } from '../model.ts'
import type { PaywallStore, StoredGate } from '../ports.ts'
import type { RouteCounter } from './counter.ts'
import {
  inputSchemaOf,
  isToolRoute,
  priceOf,
  requestOf,
  toolIdOf,
  type RouteRequest,
  type ToolRoute,
} from '../rules/tool.ts'

/** An account's routes with a fixed price, as tools for models. */
export function createRouteTools({ store, gateAddress }: RouteToolDeps) {
  return {
    /** `former` ones are not for sale now, and are there for those who have paid for a call. */
    async listTools(owner: Owner, limit: number): Promise<readonly { id: string; name: string; former: boolean }[]> {
      const tools = (await store.listGates(owner, null)).flatMap(toolsOf)
      const [sold, others] = [tools.filter(({ former }) => !former), tools.filter(({ former }) => former)]
      return [...sold.slice(0, limit), ...others.slice(0, limit)].map(({ id, paywall, route, former }) => {
        return { id, name: nameOf(paywall, route), former }
      })
    },

    /** By id. Those that are not for sale any more are missing. */
    async toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>> {
      const wanted = new Set(ids)
      const gates = await store.listGates(owner, [...new Set(ids.map(paywallIdOf))])
      const tools = gates.flatMap(toolsOf).filter(({ id, former }) => !former && wanted.has(id))
      return new Map(tools.map(({ id, paywall, route }) => [id, offerOf(paywall, route)]))
    },

    /** What this tool asks of which gate with this input. The gate says whether it is for sale. */
    async routeCall(owner: Owner, id: string, input: Raw): Promise<RouteCall> {
      const [gate] = await store.listGates(owner, [paywallIdOf(id)])
      const tool = gate === undefined ? undefined : toolsOf(gate).find((one) => one.id === id)
      if (tool === undefined) throw paywallMissing()
      const request = requestOf(tool.route, input)
      return { slug: tool.paywall.slug, request, price: priceOf(tool.route) }
    },
  }

  function offerOf(paywall: Paywall, route: ToolRoute): ToolOffer {
    const line = `${route.method} ${gateAddress}/${paywall.slug}${route.path}`
    const description = route.description === null ? line : `${route.description}\n${line}`
    return {
      name: nameOf(paywall, route),
      description,
      input: inputSchemaOf(route),
      price: priceOf(route),
      testMode: false,
    }
  }
}

export interface RouteCall {
  slug: string
  request: RouteRequest
  price: Usdc
}

/** A route that is about to be called. */
export interface OpenedRoute {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  price: Usdc
  /** Calls a route that is free. */
  pass(): Promise<RouteAnswer>
  /** Sells one call of a route with a price. */
  counter(): RouteCounter<RouteAnswer>
}

export interface RouteAnswer {
  status: number
  type: string
  body: Buffer
  /** False for an answer that is longer than a result of MCP may be, or took too long. */
  whole: boolean
}

interface RouteToolDeps {
  store: Pick<PaywallStore, 'listGates'>
  gateAddress: string
}

interface RouteTool {
  id: string
  paywall: Paywall
  route: ToolRoute
  former: boolean
}

/** With those whose route was removed or changed a moment ago. What was free is owed to nobody. */
function toolsOf({ gate: paywall, earlier }: Omit<StoredGate, 'sealed'>): RouteTool[] {
  const toolsIn = ({ routes }: Offered, former: boolean): RouteTool[] => {
    const offered = routes.filter(isToolRoute).filter(({ pricing }) => !former || pricing.model !== 'free')
    return offered.map((route) => ({ id: toolIdOf(paywall, route), paywall, route, former }))
  }
  const now = toolsIn(paywall, paywall.status !== 'active' || paywall.testMode)
  const before = earlier.flatMap(({ offered }) => toolsIn(offered, true))
  // Of one route with several prices the current one counts, then the newest.
  return [...new Map([...before.toReversed(), ...now].map((tool) => [tool.id, tool])).values()]
}

function nameOf({ name }: Paywall, { method, path }: ToolRoute): string {
  return `${name} ${method} ${path}`
}

function paywallIdOf(tool: string): Id<'pwl'> {
  return tool.slice(0, tool.indexOf(' ')) as Id<'pwl'>
}
