import { ZERO_ADDRESS } from '../../kit/address.ts'
import type { Offer as SaleOffer } from '../../sales/model.ts'
import type { Price, Requirements, Resource } from '../../x402/model.ts'
import { requirementsOf as required } from '../../x402/requirements.ts'
import { uptoRequirementsOf } from '../../x402/upto.ts'
import { withoutTrailing } from '../../kit/text.ts'
import { type Offer, type OfferedRoute, type Route } from '../model.ts'

/** The requirements in both versions of x402, and how the route is called. */
export function requirementsOf(
  price: Price,
  resource: Resource,
  { route: { method, template }, taker }: Pick<Offer, 'route' | 'taker'>,
): Requirements {
  const routeTemplate = template === null ? {} : { routeTemplate: template }
  const exact = required(price, resource, { input: { type: 'http', method }, ...routeTemplate })
  return taker === null ? exact : { ...exact, upto: uptoRequirementsOf(exact.v2, taker) }
}

/** The route as catalogues name it. The path's template is null where the path has no parameters. */
export function offeredRoute(address: string, { path }: Pick<Route, 'path'>, method: string): OfferedRoute {
  if (!/[:*]/.test(path)) return { method, template: null }
  const prefix = withoutTrailing(new URL(address).pathname, '/')
  let count = 0
  const segments = (prefix + path).split('/').map((segment) => (segment === '*' ? `:var${String(++count)}` : segment))
  // A route that matches everything names no resource.
  const isNamed = segments.some((segment) => segment !== '' && !segment.startsWith(':'))
  const template = segments.join('/')
  return { method, template: isNamed && !template.includes('*') ? template : null }
}

/** The offer as every product makes it. */
export function saleOfferOf(offer: Offer, fields: object = {}): SaleOffer {
  const { paywall: slug, amount, network, resource: address, pricing, testMode, expiresAt } = offer
  const name = offer.description ?? offer.name
  const recipient = offer.recipient ?? ZERO_ADDRESS
  const resource = { url: address, description: name, mimeType: offer.mimeType }
  const requirements = testMode ? null : requirementsOf({ amount, recipient, network }, resource, offer)
  const more = { expires: expiresAt.toISOString(), pricing, testMode, ...fields }
  return { slug, name, memo: name, address, amount, network, recipient, input: {}, requirements, more }
}
