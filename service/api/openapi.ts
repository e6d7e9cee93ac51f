import { z } from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { fileBytes, type AnyRoute, type Described } from './route.ts'

export interface Surface {
  name: string
  address: string
  routes: readonly AnyRoute[]
}

/** Endpoints of handlers without declared routes. */
export interface DescribedSurface {
  address: string
  routes: readonly Described[]
}

/** The API reference in OpenAPI 3.1, from the same schemas that decode the requests. */
export function describe(
  surfaces: readonly Surface[],
  described: readonly DescribedSurface[] = [],
): Record<string, unknown> {
  const paths: ZodOpenApiPathsObject = {}
  const add = (address: string, route: Described, id: string): void => {
    const path = pathOf(address) + route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: operation(route, id) }
  }
  for (const { address, routes } of surfaces) {
    for (const route of routes) add(address, route, operationId(route.method, route.path))
  }
  for (const { address, routes } of described) {
    for (const route of routes) add(address, route, operationId(route.method, pathOf(address) + route.path))
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
          description:
            'An API key, a session token, or a JWT of the configured issuer. A key belongs to one environment. With a session or a JWT the header `Coinslot-Environment: sandbox` or `Coinslot-Environment: production` chooses it; with a key the header may be absent, and is refused if it names the other one.',
        },
        session: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `token` that a sign-in returns; a browser sends its cookie instead.',
        },
      },
    },
    paths,
    ...serviceInfo(surfaces),
  })
  return document as unknown as Record<string, unknown>
}

/** What programs that look for paid services read first (MPP's discovery). */
function serviceInfo(surfaces: readonly Surface[]) {
  const hasTools = surfaces.some(({ name }) => name === 'tools')
  const docs = { apiReference: '/docs', homepage: '/', ...(hasTools ? { llms: '/llms.txt' } : {}) }
  return { 'x-service-info': { categories: ['payments', 'automation', 'agents'], docs } }
}

/** How a request is paid. The amount is not known here: the 402 states it for each product. */
function paymentInfo({ sells }: Described) {
  if (sells === undefined) return {}
  const offer = { intent: 'charge', method: 'evm', amount: null, currency: 'USDC', description: sells.description }
  return { 'x-payment-info': { offers: [offer] } }
}

const termsBody = z
  .looseObject({
    error: z.string().meta({ description: 'A message for people' }),
    code: z.string().meta({ description: 'A stable code for programs' }),
    x402Version: z.literal(1),
    accepts: z.array(z.looseObject({})).meta({ description: 'What can be signed, in version 1 of x402' }),
    amount: z.string().meta({ description: 'In USDC' }),
    currency: z.literal('USDC'),
    recipient: z.string(),
    reason: z.string().nullable().meta({ description: 'Why the payment was refused; null when there was none' }),
  })
  .meta({
    id: 'PaymentRequired',
    description:
      'The same terms are in the headers: PAYMENT-REQUIRED for version 2 of x402, and WWW-Authenticate for MPP.',
  })

const errorBody = z
  .looseObject({
    error: z.string().meta({ description: 'A message for people' }),
    code: z.string().meta({ description: 'A stable code for programs' }),
    requestId: z.string(),
    details: z.record(z.string(), z.string()).optional().meta({ description: 'What is wrong, by field' }),
  })
  .meta({ id: 'Error' })

const EVERYWHERE: Readonly<Record<number, string>> = {
  400: 'The request is invalid; `details` names the fields.',
  429: 'Too many requests; `Retry-After` says when to retry.',
  500: 'An internal error; include `requestId` when you report it.',
}

function operation(route: Described, id: string): ZodOpenApiOperationObject {
  const errors: Record<number, string> = { ...EVERYWHERE, ...route.errors }
  if (route.auth !== 'anyone' && route.auth !== 'optional') errors[401] ??= 'The credentials are missing or invalid.'
  if (route.auth === 'person') errors[403] ??= "An agent's key may not do this."
  if (route.uploadBytesMax !== undefined) errors[413] ??= 'The file is too large.'
  if (route.body !== undefined) {
    errors[413] ??= 'The body is too large.'
    errors[415] ??= 'The body is not application/json.'
  }
  if (route.sells !== undefined) errors[402] ??= 'The price, or why the payment was refused.'
  if (isIdempotent(route)) errors[409] ??= 'The Idempotency-Key was used with another body.'
  const parameters = {
    ...(route.params === undefined ? {} : { path: route.params as z.ZodObject }),
    ...(route.query === undefined ? {} : { query: route.query as z.ZodObject }),
    ...headersOf(route),
  }
  return {
    operationId: id,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    ...(route.auth === 'anyone' ? {} : { security: SECURITY[route.auth] }),
    requestParams: parameters,
    ...bodyOf(route),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [
          status,
          // Nothing is sent with a 204.
          schema instanceof z.ZodUndefined
            ? { description: 'Done' }
            : { description: 'Done', content: contentOf(schema) },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(errors).map(([status, description]) => [
          status,
          { description, content: json(refusalOf(route, Number(status))) },
        ]),
      ),
    },
    ...paymentInfo(route),
    // The extension by which viewers of such documents show samples.
    ...(route.samples === undefined
      ? {}
      : { 'x-codeSamples': route.samples.map(({ title, text }) => ({ lang: 'sh', label: title, source: text })) }),
  }
}

function refusalOf({ refusals, sells, auth }: Described, status: number): z.ZodType {
  // With a key there is a balance that may be too low; without one there are terms.
  const unpaid = auth === 'anyone' ? termsBody : z.union([termsBody, errorBody])
  return refusals?.[status] ?? (status === 402 && sells !== undefined ? unpaid : errorBody)
}

const SECURITY = {
  optional: [{}, { bearer: [] }],
  agent: [{ bearer: [] }],
  person: [{ bearer: [] }],
  session: [{ session: [] }],
}

function headersOf(route: Described): { header?: z.ZodObject } {
  const { headers } = route
  if (!isIdempotent(route)) return headers === undefined ? {} : { header: headers }
  return { header: headers === undefined ? idempotencyHeader : idempotencyHeader.extend(headers.shape) }
}

function isIdempotent(route: Described): boolean {
  return route.idempotent !== undefined && route.idempotent !== false
}

const idempotencyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'A repeated request with the same key and body returns the first response.' }),
})

function bodyOf({ body, example, uploadBytesMax }: Described) {
  const sent = uploadBytesMax === undefined ? body : fileBytes
  if (sent === undefined) return {}
  const content = example === undefined ? contentOf(sent) : { 'application/json': { schema: sent, example } }
  return { requestBody: { required: true, content } }
}

function contentOf(schema: z.ZodType) {
  return schema === fileBytes ? { 'application/octet-stream': { schema } } : json(schema)
}

function json(schema: z.ZodType) {
  return { 'application/json': { schema } }
}

function operationId(method: string, path: string): string {
  const words = path.split(/[/:-]+/).filter((word) => word !== '')
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '')
}

function originOf(address: string): string {
  return new URL(address).origin
}
