import { initTRPC, TRPCError, type TRPC_ERROR_CODE_KEY } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import type { Request, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { assertPerson, type Caller } from '../kit/caller.ts'
import { helpPath } from '../kit/error-codes/catalogue.ts'
import { DomainError, invalid, type Kind } from '../kit/errors.ts'
import { isId, newId, type Id, type Prefix } from '../kit/ids.ts'
import { daysIn, spanOf, type Clock, type Span } from '../kit/clock.ts'
import { faultOfJsonShape } from '../kit/json-shape.ts'
import { decode } from '../kit/decode.ts'
import { faultOfInput } from './errors.ts'
import type { Idempotency } from './idempotency.ts'
import { readBody } from './json.ts'
import type { RateLimit } from './limits.ts'
import type { ProcedureMeta } from './reference/procedures.ts'
import { contextOf, limitKeyOf } from './requests.ts'

/** The context of every dashboard procedure. */
export interface Context {
  requestId: string
  /** Called only when a procedure needs the caller, so that a public one does not pay for it. */
  identify(): Promise<Caller>
  /** Counts one request of an anonymous address; throws when there were too many. */
  countVisit(): Promise<void>
  idempotency: Idempotency
  clock: Clock
}

const t = initTRPC
  .context<Context>()
  .meta<ProcedureMeta>()
  .create({
    errorFormatter({ shape, error, ctx }) {
      const cause = error.cause
      const known = cause instanceof DomainError ? cause : null
      const reason = known?.code ?? shape.data.code.toLowerCase()
      return {
        ...shape,
        message:
          known?.message ??
          (error.code === 'INTERNAL_SERVER_ERROR' ? 'Something went wrong on our side.' : shape.message),
        data: {
          code: shape.data.code,
          httpStatus: shape.data.httpStatus,
          reason,
          help: helpPath(reason),
          fields: known?.fields ?? {},
          requestId: ctx?.requestId ?? null,
        },
      }
    },
  })

export const router = t.router

const answering = t.procedure.use(async ({ next }) => {
  const result = await next()
  // A procedure throws domain errors like all other code; tRPC needs its own kind of error.
  const cause = result.ok ? null : (faultOfInput(result.error.cause) ?? result.error.cause)
  if (cause instanceof DomainError) {
    throw new TRPCError({ code: CODE[cause.kind], message: cause.message, cause })
  }
  return result
})

/** A procedure for a signed-in person; an agent's key is refused. */
export const person = answering.use(async ({ ctx, next }) => {
  const caller = await ctx.identify()
  assertPerson(caller)
  return await next({ ctx: { caller } })
})

/** For public data, signed in or not. Each procedure call is counted, because one batch holds many. */
export const visitor = answering.meta({ auth: 'anyone' }).use(async ({ ctx, next }) => {
  await ctx.countVisit()
  return await next()
})

/**
 * For procedures that move money or create something. `once` runs the work under its own operation name. A client that
 * got no answer and sends the same key again gets the first answer. Refusals are not stored, because nothing was done.
 * Secrets are not stored either: `kept` turns an answer with a secret into what a repetition gets.
 */
export const keyed = person.use(async ({ ctx, path, getRawInput, next }) => {
  const { caller, idempotency, clock } = ctx
  // The raw input, because the decoded value need not be JSON any more.
  const body = await getRawInput()
  async function once<Output, Kept = Output>(
    { key }: { key?: string | undefined },
    work: (operation: Id<'op'>, keyHash: Buffer | null, mayHaveBegun: boolean) => Promise<Output>,
    kept?: (output: Output) => Kept,
  ): Promise<Output | Kept> {
    if (key === undefined) return await work(newOperation(clock), null, false)
    const ask = {
      key,
      body,
      path,
      method: 'TRPC',
      environment: caller.environment,
      account: `${caller.issuer} ${caller.subject}`,
    }
    const answer = await idempotency.once(ask, async (operation, mayHaveBegun, keyHash) => {
      const body = await work(operation, keyHash, mayHaveBegun)
      return { status: 200, body, replayBody: kept?.(body), keep: true }
    })
    // The stored answer equals the first one, and both leave here as JSON.
    return answer.body as Output | Kept
  }
  return await next({ ctx: { once } })
})

/** A secret is shown once; a repetition of a lost answer cannot show it again. */
export function withoutSecret<Output extends { secret: string | null }>(
  output: Output,
): Omit<Output, 'secret'> & { secret: null } {
  return { ...output, secret: null }
}

/** Names one action of a person: a button pressed again sends the same key, the next action another one. */
export const actKey = { key: z.string().min(1).max(255).optional() }

/**
 * Decodes an input by its schema and reports each wrong field, as the REST API does. The example is the smallest input
 * that is accepted, where the schema does not show it.
 */
export function asked<Schema extends z.ZodType>(schema: Schema, example?: z.input<Schema>) {
  return {
    parse: (value: unknown) => decode(schema, value, 'input') as z.output<Schema>,
    // For the reference.
    schema,
    example,
    // Used by types only: what the dashboard sends, and what a procedure gets.
    _input: undefined as z.input<Schema>,
    _output: undefined as z.output<Schema>,
  }
}

/** Paging of every list; tRPC sends numbers as numbers. */
export const paging = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).max(1_000_000_000).default(0),
})

/** A number of UTC days, the last of them today: a plot has as many points. */
export const someDays = z.object({ days: z.int().min(1).max(90).default(30) })

export function firstOf({ days }: { days: number }, clock: Clock): Date {
  const today = clock.now()
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() - days + 1))
}

const day = z.iso.date('must be a day like 2026-01-31')

/** A year, leap years included. */
const SPAN_DAYS_MAX = 366

/** Days to sum up, both of them included. */
export const spanInput = z
  .object({ first: day, last: day })
  .refine(({ first, last }) => first <= last, { path: ['last'], message: 'must not be before the first day' })
  .refine(({ first, last }) => daysIn(first, last) <= SPAN_DAYS_MAX, {
    path: ['first'],
    message: `must be at most ${String(SPAN_DAYS_MAX)} days before the last day`,
  })

export const spanExample = { first: '2026-01-01', last: '2026-01-31' }

export function toSpan({ first, last }: z.output<typeof spanInput>): Span {
  return spanOf(first, last)
}

/** One object by its id. An invalid id is treated as an object that does not exist. */
export const named = z.object({ id: z.string().max(200) })

/** Where a page begins in a list that its ids order: the last id of the page before. */
export function placeOf(kind: Prefix) {
  return z
    .string()
    .max(100)
    .refine((text) => isId(kind, text), 'must be the `next` of an earlier page')
    .optional()
}

export function mountTrpc(
  appRouter: Parameters<typeof createExpressMiddleware>[0]['router'],
  identify: (request: Request) => Promise<Caller>,
  {
    idempotency,
    clock,
    limit,
    bodyBytesMax,
  }: Pick<Context, 'idempotency' | 'clock'> & { limit: RateLimit; bodyBytesMax: number },
): RequestHandler {
  const handler = createExpressMiddleware({
    router: appRouter,
    maxBodySize: bodyBytesMax,
    maxBatchSize: BATCH_MAX,
    // When a request cannot be parsed, tRPC does not set a content type.
    responseMeta: ({ ctx }) => (ctx === undefined ? { headers: { 'content-type': 'application/json' } } : {}),
    onError({ error, req: { res } }) {
      // For a batch, the first error counts: the request has one log line and one refusal.
      if (res === undefined) return
      const { cause } = error
      contextOf(res).refused ??= cause instanceof DomainError ? cause.code : error.code.toLowerCase()
    },
    createContext: ({ req, res }: { req: Request; res: Response }): Context => {
      const context = contextOf(res)
      context.route = '/trpc'
      return {
        requestId: context.requestId,
        identify: async () => (context.caller = await identify(req)),
        countVisit: () => countAddress(limit, req),
        idempotency,
        clock,
      }
    },
  })
  return async (request, response, next) => {
    // For an address that it cannot parse, tRPC answers without a content type.
    response.set('Content-Type', 'application/json')
    // Express makes a list of an input that is sent twice; tRPC reads the first.
    for (const input of [request.query['input']].flat()) if (typeof input === 'string') assertShape('input', input)
    if (request.method === 'POST') {
      // tRPC accepts a body that was already read, and would parse it however deep it nests.
      const text = (await readBody(request, bodyBytesMax)).toString('utf8')
      assertShape('body', text)
      request.body = text
    }
    handler(request, response, next)
  }
}

function assertShape(name: string, text: string): void {
  const fault = faultOfJsonShape(text)
  if (fault !== null) throw invalid({ [name]: fault }, 'invalid_json')
}

async function countAddress(limit: RateLimit, request: Request): Promise<void> {
  const { refusal } = await limit(limitKeyOf(request))
  if (refusal !== null) throw refusal
}

/** A new operation name for the objects that a procedure creates. */
export function newOperation(clock: Clock): Id<'op'> {
  return newId('op', clock.now())
}

/** A batch counts as one request: a page loads a handful of queries at a time. */
const BATCH_MAX = 30

const CODE: Record<Kind, TRPC_ERROR_CODE_KEY> = {
  held: 'PRECONDITION_REQUIRED',
  invalid: 'BAD_REQUEST',
  unauthenticated: 'UNAUTHORIZED',
  unaffordable: 'PAYMENT_REQUIRED',
  forbidden: 'FORBIDDEN',
  missing: 'NOT_FOUND',
  conflict: 'CONFLICT',
  expired: 'PRECONDITION_FAILED',
  'too-large': 'PAYLOAD_TOO_LARGE',
  unsupported: 'UNSUPPORTED_MEDIA_TYPE',
  limited: 'TOO_MANY_REQUESTS',
  failed: 'INTERNAL_SERVER_ERROR',
  upstream: 'BAD_GATEWAY',
  unavailable: 'SERVICE_UNAVAILABLE',
  late: 'GATEWAY_TIMEOUT',
}
