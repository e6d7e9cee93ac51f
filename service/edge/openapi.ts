import { z } from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import type { AnyRoute } from './route.ts'

export interface Surface {
  name: string
  address: string
  routes: readonly AnyRoute[]
}

/** The reference in OpenAPI 3.1, from the very schemas that decode the requests. */
export function describe(surfaces: readonly Surface[]): Record<string, unknown> {
  const paths: ZodOpenApiPathsObject = {}
  for (const surface of surfaces) {
    for (const route of surface.routes) {
      const path = pathOf(surface.address) + route.path.replaceAll(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method]: operation(route) }
    }
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Coinslot',
      version: '1',
      description: 'Put a price on a workflow, a prompt, an agent, a tool or an HTTP API, and be paid in USDC per use.',
    },
    servers: [{ url: originOf(surfaces[0]?.address ?? '/') }],
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, a session token, or a JWT of the configured issuer.',
        },
      },
    },
    paths,
  })
  return document as unknown as Record<string, unknown>
}

const errorBody = z
  .looseObject({
    error: z.string().meta({ description: 'A sentence for a person' }),
    code: z.string().meta({ description: 'A stable word for a program' }),
    requestId: z.string(),
    details: z.record(z.string(), z.string()).optional().meta({ description: 'What is wrong, by field' }),
  })
  .meta({ id: 'Error' })

const EVERYWHERE: Readonly<Record<number, string>> = {
  400: 'The request is invalid; `details` names the fields.',
  429: 'Too many requests; `Retry-After` says when to come back.',
  500: 'A fault of ours; `requestId` finds it.',
}

function operation(route: AnyRoute): ZodOpenApiOperationObject {
  const errors: Record<number, string> = { ...EVERYWHERE, ...route.errors }
  if (route.auth === 'agent' || route.auth === 'person') errors[401] ??= 'Nobody, or somebody unknown, is asking.'
  if (route.auth === 'person') errors[403] ??= "An agent's key may not do this."
  if (route.body !== undefined) {
    errors[413] ??= 'The body is too large.'
    errors[415] ??= 'The body is not application/json.'
  }
  if (isIdempotent(route)) errors[409] ??= 'The Idempotency-Key was used with another body.'
  const parameters = {
    ...(route.params === undefined ? {} : { path: route.params as z.ZodObject }),
    ...(route.query === undefined ? {} : { query: route.query as z.ZodObject }),
    ...(isIdempotent(route) ? { header: idempotencyHeader } : {}),
  }
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    ...(route.auth === 'anyone'
      ? {}
      : { security: route.auth === 'optional' ? [{}, { bearer: [] }] : [{ bearer: [] }] }),
    requestParams: parameters,
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: json(route.body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [
          status,
          { description: 'Done', content: json(schema) },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(errors).map(([status, description]) => [status, { description, content: json(errorBody) }]),
      ),
    },
  }
}

function isIdempotent(route: AnyRoute): boolean {
  return route.idempotent !== undefined && route.idempotent !== false
}

const idempotencyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'The same key and body gives the first answer again.' }),
})

function json(schema: z.ZodType) {
  return { 'application/json': { schema } }
}

function operationId(route: AnyRoute): string {
  const words = route.path.split(/[/:-]+/).filter((word) => word !== '')
  return route.method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '')
}

function originOf(address: string): string {
  return new URL(address).origin
}
