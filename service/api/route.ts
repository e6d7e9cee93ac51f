import type { z } from 'zod'
import type { Id } from '../kit/ids.ts'
import type { Caller } from '../kit/caller.ts'

/**
 * An endpoint, declared once: what decodes a request is also what describes it in the API reference.
 * The edge does the rest in the same order everywhere: rate limit, who is asking, body, idempotency,
 * decoding, the handler, encoding.
 */
export function route<
  Auth extends Authentication,
  Body extends z.ZodType = z.ZodNever,
  Query extends z.ZodType = z.ZodNever,
  Params extends z.ZodType = z.ZodNever,
>(declared: Route<Auth, Body, Query, Params>): AnyRoute {
  // The pipeline decodes with these very schemas before it calls `handle`, so the erased types hold.
  return declared
}

export interface Route<
  Auth extends Authentication,
  Body extends z.ZodType,
  Query extends z.ZodType,
  Params extends z.ZodType,
> {
  method: 'get' | 'post' | 'patch' | 'delete'
  /** Under the surface's address, with Express parameters: `/keys/:id`. */
  path: string
  summary: string
  tag: string
  /** `person`: only somebody who signed in or their own key; an agent's key is refused. */
  auth: Auth
  /**
   * A POST that creates or moves something honours `Idempotency-Key`; of an account's callers, or of `anyone`. Of a
   * `payer` the key names the operation, and no answer is stored: a key can be guessed, and what was paid for goes to
   * its buyer alone, so the seller decides each time.
   */
  idempotent?: boolean | 'anyone' | 'payer'
  /** Another limit than the surface's, by its name; null where there is none. */
  limit?: string | null
  /** Less than everywhere else. */
  bodyBytesMax?: number
  /** An error as a page, for whoever asks with a browser. */
  errorPage?(error: { status: number; code: string; sentence: string }): Page
  /**
   * What an error's body has besides `error`, `code` and `requestId`, for protocols with a form of their own. Where
   * the handler was reached `operation` is what it was given.
   */
  errorFields?(error: { code: string; sentence: string; operation: Id<'op'> }): Readonly<Record<string, unknown>>
  body?: Body
  query?: Query
  params?: Params
  /** The answers by status, for the reference; errors are described by their code. */
  answers: Readonly<Record<number, z.ZodType>>
  errors?: Readonly<Record<number, string>>
  handle(request: Decoded<Auth, Body, Query, Params>): Promise<Reply>
}

/** `anyone`: nobody need ask. `optional`: known if they say. `agent`: also an agent's key. `person`: not an agent's. */
export type Authentication = 'anyone' | 'optional' | 'agent' | 'person'

export interface Decoded<
  Auth extends Authentication,
  Body extends z.ZodType,
  Query extends z.ZodType,
  Params extends z.ZodType,
> {
  caller: Auth extends 'agent' | 'person' ? Caller : Caller | null
  body: z.output<Body>
  /** The very bytes of the body: what a signature is over. */
  rawBody: Buffer
  query: z.output<Query>
  params: z.output<Params>
  /**
   * Names this act. The same under every repetition of an idempotent request, also after a crash: whatever
   * the handler makes takes its id from here (`idLike`), so that making it twice is impossible.
   */
  operation: Id<'op'>
  /** The request has an `Idempotency-Key`: whoever repeats it comes under the same name. */
  keyed: boolean
  /** The caller's network address. */
  address: string
  /** A request header by its name in lower case. */
  header(name: string): string | undefined
  /** Whether a browser asks, who wants a page rather than JSON. */
  wantsPage: boolean
  /** Aborts when the caller hangs up before the answer. */
  gone(): AbortSignal
}

/** Something else than JSON. */
export interface Page {
  /** With its charset. */
  type: string
  content: string | Buffer
  headers?: Readonly<Record<string, string>>
}

/** One of `text/event-stream`. */
export interface ServerEvent {
  event: string
  data: unknown
  /** Instead of the data: a line as it is. */
  text?: string
  id?: string
}

export interface Reply {
  status: number
  body: unknown
  /** Instead of the body. */
  page?: Page
  /** Instead of the body: told as they happen, until they end or nobody listens any more. */
  events?: (gone: AbortSignal) => AsyncIterable<ServerEvent>
  headers?: Readonly<Record<string, string>>
  /** What an idempotent replay answers instead: a secret is shown once. */
  replayBody?: unknown
  /** Told once whether the answer went out whole or its connection broke before. Not for a keyed request. */
  whenSent?(arrived: boolean): Promise<void>
}

export type AnyRoute = Route<Authentication, z.ZodType, z.ZodType, z.ZodType>

/**
 * What the reference says of an endpoint. A declared route says it of itself; what has a handler of its own (sign-in,
 * MCP, gates) is described beside it, under the address where it is mounted.
 */
export interface Described extends Pick<
  AnyRoute,
  'method' | 'path' | 'summary' | 'tag' | 'idempotent' | 'body' | 'query' | 'params' | 'answers' | 'errors'
> {
  /** `session`: a person's sign-in; a key is not enough. */
  auth: Authentication | 'session'
  /** In paragraphs, with an empty line between two. */
  description?: string
  /** Of the request, in the spelling that people read. */
  headers?: z.ZodObject
  /** Refusals with a body of their own; the rest has that of every error. */
  refusals?: Readonly<Record<number, z.ZodType>>
  /** Whole exchanges, where a request that is made up from the schemas shows too little. */
  samples?: readonly { title: string; text: string }[]
}

export function reply(status: number, body: unknown): Reply {
  return { status, body }
}
