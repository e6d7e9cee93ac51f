import { z } from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import type { Document, Schema } from './document.ts'
import { OUTPUTS } from './outputs.ts'

/** A procedure of a tRPC router, as far as the reference reads it. */
interface Procedure {
  _def: { type: string; inputs: readonly unknown[]; meta?: ProcedureMeta | undefined }
}

/** What a procedure says of itself. */
export interface ProcedureMeta {
  auth: 'person' | 'anyone'
}

/**
 * The dashboard's procedures in OpenAPI 3.1, a document of its own: clients are generated from the API's. The inputs are
 * the schemas that decode them, the outputs the types of the code.
 */
export function describeProcedures(procedures: Readonly<Record<string, unknown>>, origin: string): Document {
  const paths: ZodOpenApiPathsObject = {}
  for (const [name, procedure] of Object.entries(procedures) as [string, Procedure][]) {
    const { type, inputs, meta } = procedure._def
    const isQuery = type === 'query'
    const input = (inputs as Input[]).find(({ schema }) => schema !== undefined)
    paths[`/trpc/${name}`] = { [isQuery ? 'get' : 'post']: operationOf(name, { input, isQuery, meta }) }
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: { title: 'Coinslot: procedures of the dashboard', version: '1', description: DESCRIPTION },
    servers: [{ url: origin }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: "A person's API key or session token." },
      },
    },
    paths,
  })
  return withInputsInAddress(document as unknown as Document)
}

/** The input of a query is JSON in the address. */
function withInputsInAddress(document: Document): Document {
  const paths = Object.entries(document.paths).map(([path, { get, ...others }]) => {
    if (get?.requestBody === undefined) return [path, document.paths[path]]
    const { requestBody, ...rest } = get
    const input = { name: 'input', in: 'query', required: true, description: 'The input, as JSON' }
    return [path, { ...others, get: { ...rest, parameters: [{ ...input, content: requestBody.content }] } }]
  })
  return { ...document, paths: Object.fromEntries(paths) as Document['paths'] }
}

const DESCRIPTION =
  'What the dashboard calls, by tRPC over HTTP. It follows the dashboard from version to version: a program of yours ' +
  'is better served by the API.'

/** What decodes an input: `asked` makes it. */
interface Input {
  schema?: z.ZodType
  example?: unknown
}

interface Described {
  input: Input | undefined
  isQuery: boolean
  meta: ProcedureMeta | undefined
}

function operationOf(name: string, { input, isQuery, meta }: Described): ZodOpenApiOperationObject {
  const { schema, example } = input ?? {}
  const content = { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
  return {
    operationId: `trpc-${name}`,
    summary: isQuery ? 'A query: it changes nothing.' : 'A mutation.',
    tags: [`tRPC: ${name.split('.')[0] ?? ''}`],
    ...(meta?.auth === 'anyone' ? {} : { security: [{ bearer: [] }] }),
    ...(schema === undefined ? {} : { requestBody: { required: true, content } }),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: answerOf(OUTPUTS[name] ?? null) } } },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: refusal } } },
        ]),
      ),
    },
  } as ZodOpenApiOperationObject
}

function answerOf(output: Schema | null): Schema {
  const result: Schema = {
    type: 'object',
    ...(output === null ? {} : { properties: { data: output }, required: ['data'] }),
  }
  return { type: 'object', properties: { result }, required: ['result'] }
}

const REFUSALS = {
  400: 'The input is invalid; `fields.details` names the fields.',
  401: 'The credentials are missing or invalid.',
  403: "An agent's key may not do this.",
  404: 'There is no such thing in your account.',
  429: 'Too many requests; `Retry-After` says when to retry.',
  500: 'An internal error; include `requestId` when you report it.',
}

const refusal = z
  .looseObject({
    error: z.looseObject({
      message: z.string().meta({ description: 'A message for people' }),
      code: z.int().meta({ description: 'The number that JSON-RPC has for it' }),
      data: z.looseObject({
        code: z.string().meta({ description: "tRPC's word for the status" }),
        httpStatus: z.int(),
        reason: z.string().meta({ description: 'A stable code for programs; the same as `code` of the API' }),
        help: z.string().nullable().meta({ description: 'The page of the code, on this origin' }),
        fields: z.looseObject({}).meta({ description: 'More about it, by code' }),
        requestId: z.string().nullable(),
      }),
    }),
  })
  .meta({ id: 'Error' })
