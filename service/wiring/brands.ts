import type { Files } from '../files/service.ts'
import type { Part, Platform } from './platform.ts'
import { brandRoutes } from '../brands/http.ts'
import { createBrands, type Brands } from '../brands/service.ts'
import { createBrandStore } from '../brands/store.ts'

/** How accounts show themselves to their buyers. */
export function openBrands({ database, clock }: Platform, files: Files): { brands: Brands; part: Part } {
  const brands = createBrands({ store: createBrandStore(database.statements), files, clock })
  return { brands, part: { routes: [{ surface: 'api', routes: brandRoutes(brands) }] } }
}
