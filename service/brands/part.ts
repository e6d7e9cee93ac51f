import type { Files } from '../files/service.ts'
import type { Part, Platform } from '../platform/platform.ts'
import { brandRoutes } from './http.ts'
import { createBrands, type Brands } from './service.ts'
import { createBrandStore } from './store.ts'

/** How accounts show themselves to their buyers. */
export function openBrands({ database, clock }: Platform, files: Files): { brands: Brands; part: Part } {
  const brands = createBrands({ store: createBrandStore(database.statements), files, clock })
  return { brands, part: { routes: [{ surface: 'api', routes: brandRoutes(brands) }] } }
}
