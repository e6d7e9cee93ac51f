import { invalid } from '../../kit/errors.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { ZERO, type Usdc } from '../../kit/money.ts'
import type { Paywall, Pricing, Route } from '../model.ts'
import { keyOf } from './routes.ts'

/*
 * Routes as tools for models. A tool has one price, so prices by customer and by use are not offered, and neither are
 * routes whose payments need more than a signature.
 */

/** A route that can be a tool. */
export type ToolRoute = Route & { pricing: Extract<Pricing, { model: 'free' | 'per-request' }> }

export function isToolRoute(route: Route): route is ToolRoute {
  const { method, pricing, paymentIdentifier } = route
  const isExact = pricing.model === 'free' || pricing.model === 'per-request'
  return isExact && METHODS.has(method) && paymentIdentifier === 'optional'
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export function priceOf({ pricing }: ToolRoute): Usdc {
  return pricing.model === 'free' ? ZERO : pricing.amount
}

/** Stays the same when the owner changes the slug, the price or the order of routes. */
export function toolIdOf({ id }: Pick<Paywall, 'id'>, route: ToolRoute): string {
  return `${id} ${keyOf(route)}`
}

/** The path's parameters by name; `*` is the rest of the path. */
export function inputSchemaOf({ method, path }: ToolRoute): Raw {
  const names = parametersOf(path)
  const properties = {
    ...(names.length === 0 ? {} : { path: pathSchemaOf(names) }),
    query: { type: 'object', description: 'The query, by name', additionalProperties: { type: 'string' } },
    ...(WITH_BODY.has(method) ? { body: { description: 'The JSON body' } } : {}),
  }
  return { type: 'object', properties, required: names.length === 0 ? [] : ['path'], additionalProperties: false }
}

function pathSchemaOf(names: readonly string[]): Raw {
  const rest = { type: 'string', description: 'The rest of the path, like `a/b`' }
  const properties = Object.fromEntries(names.map((name) => [name, name === REST ? rest : { type: 'string' }]))
  return { type: 'object', properties, required: names.filter((name) => name !== REST), additionalProperties: false }
}

const REST = '*'

function parametersOf(path: string): string[] {
  return path.split('/').flatMap((part) => (part === REST ? [REST] : part.startsWith(':') ? [part.slice(1)] : []))
}

/** The request that an input makes. The gate decides what its path matches, and refuses what can be read in two ways. */
export function requestOf({ method, path }: ToolRoute, input: Raw): RouteRequest {
  const { path: parameters = {}, query = {}, body, ...others } = input
  const faults: Record<string, string> = {}
  for (const name of Object.keys(others)) faults[name.slice(0, 100)] = 'is not known'
  if (body !== undefined && !WITH_BODY.has(method)) faults['body'] = `is not sent by ${method}`
  const filled = isRecord(parameters) ? filledPath(path, parameters, faults) : ''
  if (!isRecord(parameters)) faults['path'] = 'must be an object'
  const search = isRecord(query) ? queryOf(query, faults) : ''
  if (!isRecord(query)) faults['query'] = 'must be an object'
  if (filled.length + search.length > LINE_MAX) {
    faults['path'] = `must have at most ${String(LINE_MAX)} characters with the query`
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return { method, path: filled, query: search, body: body === undefined ? null : Buffer.from(JSON.stringify(body)) }
}

export interface RouteRequest {
  method: string
  path: string
  /** With its question mark; empty when there is none. */
  query: string
  body: Buffer | null
}

function filledPath(pattern: string, given: Raw, faults: Record<string, string>): string {
  const known = new Set(parametersOf(pattern))
  for (const name of Object.keys(given)) if (!known.has(name)) faults[`path.${name.slice(0, 100)}`] = 'is not known'
  const parts = pattern.split('/').flatMap((part) => {
    const isRest = part === REST
    if (!isRest && !part.startsWith(':')) return [part]
    const name = isRest ? REST : part.slice(1)
    const value = Object.hasOwn(given, name) ? given[name] : isRest ? '' : undefined
    if (isText(value) && (isRest || String(value) !== '')) {
      return isRest ? String(value).split('/').map(encodeURIComponent) : [encodeURIComponent(String(value))]
    }
    faults[`path.${name}`] = value === undefined ? 'is required' : 'must be a text'
    return []
  })
  return parts.join('/')
}

function queryOf(given: Raw, faults: Record<string, string>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (isText(value)) query.append(name, String(value))
    else faults[`query.${name.slice(0, 100)}`] = 'must be a text'
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

function isText(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value)
  return typeof value === 'number' || typeof value === 'boolean'
}

/** Half of a UTF-16 surrogate pair has no form in an address. */
const LONE_SURROGATE = /\p{Surrogate}/u

/** As long as an address may be that an account pays. */
const LINE_MAX = 1_500
