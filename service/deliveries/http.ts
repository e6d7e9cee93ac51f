import type { AnyRoute } from '../api/route.ts'
import { deliveryRoutes } from './http/deliveries.ts'
import { endpointRoutes } from './http/endpoints.ts'
import type { Deliveries } from './service.ts'

export function deliveriesRoutes(deliveries: Deliveries): AnyRoute[] {
  return [...endpointRoutes(deliveries), ...deliveryRoutes(deliveries)]
}
