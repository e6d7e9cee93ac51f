import { operationsOf } from '../../service/openapi/operations.ts'
import { DOCUMENT_LIMITS, linked, surveyed } from '../../service/openapi/references.ts'
import { fromSwagger, isSwagger } from '../../service/openapi/swagger.ts'
import type { Operation, Skipped } from '../../service/tools/model/draft.ts'
import type { ReadOptions } from '../../service/tools/ports/sources.ts'
import { operation, petDocument } from './documents.ts'

/** As the thread does it, without one. */
export function readHere(text: string): (Operation | Skipped)[] | string {
  const document = JSON.parse(text) as Record<string, unknown>
  const survey = surveyed(document, DOCUMENT_LIMITS)
  if ('fault' in survey) return survey.fault
  const fault = linked(document, survey.sites, DOCUMENT_LIMITS)
  if (fault !== null) return fault
  return [...operationsOf(isSwagger(document) ? fromSwagger(document) : document, PLAIN)]
}

const PLAIN: ReadOptions = { base: null, server: null, auth: null, trusted: false }

/** Schemas that each refer to the next one, in a circle. */
export function chainOf(count: number): string {
  const schemas = Object.fromEntries(
    Array.from({ length: count }, (_, nth) => [
      `S${String(nth)}`,
      { properties: { next: { $ref: `#/components/schemas/S${String((nth + 1) % count)}`, description: 'x' } } },
    ]),
  )
  const requestBody = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } }
  const paths = Array.from({ length: count / 4 }, (_, nth) => [
    `/p${String(nth)}`,
    { post: operation(`o${String(nth)}`, { requestBody }) },
  ])
  return petDocument(Object.fromEntries(paths) as Record<string, unknown>, { components: { schemas } })
}
