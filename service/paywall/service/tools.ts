import type { Id } from '../../kit/ids.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { ToolOffer } from '../../sales/model.ts'
import { paywallMissing } from '../errors.ts'
import type { Paywall } from '../model.ts'
import type { PaywallStore } from '../ports.ts'
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
    async listTools(owner: Owner, limit: number): Promise<readonly { id: string; name: string }[]> {
      const tools = (await store.listSelling(owner, null)).flatMap(toolsOf)
      return tools.slice(0, limit).map(({ id, paywall, route }) => ({ id, name: nameOf(paywall, route) }))
    },

    /** By id. Those that are not for sale any more are missing. */
    async toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>> {
      const wanted = new Set(ids)
      const paywalls = await store.listSelling(owner, [...new Set(ids.map(paywallIdOf))])
      const tools = paywalls.flatMap(toolsOf).filter(({ id }) => wanted.has(id))
      return new Map(tools.map(({ id, paywall, route }) => [id, offerOf(paywall, route)]))
    },

    /** What this tool asks of which gate with this input. */
    async routeCall(owner: Owner, id: string, input: Raw): Promise<RouteCall> {
      const [paywall] = await store.listSelling(owner, [paywallIdOf(id)])
      const tool = paywall === undefined ? undefined : toolsOf(paywall).find((one) => one.id === id)
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
  store: Pick<PaywallStore, 'listSelling'>
  gateAddress: string
}

function toolsOf(paywall: Paywall): { id: string; paywall: Paywall; route: ToolRoute }[] {
  return paywall.routes.filter(isToolRoute).map((route) => ({ id: toolIdOf(paywall, route), paywall, route }))
}

function nameOf({ name }: Paywall, { method, path }: ToolRoute): string {
  return `${name} ${method} ${path}`
}

function paywallIdOf(tool: string): Id<'pwl'> {
  return tool.slice(0, tool.indexOf(' ')) as Id<'pwl'>
}
