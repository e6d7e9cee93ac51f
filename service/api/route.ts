import { z } from 'zod'
import type { Id } from '../kit/ids.ts'
import type { Caller } from '../kit/caller.ts'
import type { Reader } from '../kit/language.ts'

/**
 * An endpoint, declared once: the schemas that decode a request also describe it in the API reference. The pipeline
 * does the rest in the same order everywhere: rate limit, authentication, body, idempotency, decoding, the handler,
 * encoding.
 */
export function route<
  Auth extends Authentication,
  Body extends z.ZodType = z.ZodNever,
  Query extends z.ZodType = z.ZodNever,
  Params extends z.ZodType = z.ZodNever,
>(declared: Route<Auth, Body, Query, Params>): AnyRoute {
  // The pipeline decodes with these same schemas before it calls `handle`, so the erased types hold.
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
  /** `person`: only a signed-in person or their own key; an agent's key is refused. */
  auth: Auth
  /**
   * A POST that creates or moves something honours `Idempotency-Key`, for an account's callers or for `anyone`. For a
   * `payer` the key names the operation, but no answer is stored: a key can be guessed, and only the buyer may get what
   * was paid for, so the seller decides each time. Where the operation alone decides, the route takes no key that can be
   * guessed (`isSecret`).
   */
  idempotent?: boolean | 'anyone' | 'payer'
  /** Another rate limit than the surface's, by its name; null for no limit. */
  limit?: string | null
  /** One of the busiest addresses, which is served before Express looks for a handler. Its path has no parameters. */
  direct?: boolean
  /** A lower limit than the general one. */
  bodyBytesMax?: number
  /**
   * The body is a file, taken as it comes instead of `body`. This is its largest size, which is refused before it is
   * read.
   */
  uploadBytesMax?: number
  /**
   * A caller without a key pays for each request, by x402 or MPP. The price is in the 402, because each product has its
   * own. `limit` is then the rate limit's name, if it is another one than for callers with a key.
   */
  sells?: { description: string; limit?: string }
  /** Renders an error as a page, for requests from a browser. */
  errorPage?(error: { status: number; code: string; sentence: string }, reader: Reader): Page
  /**
   * Extra fields of an error's body besides `error`, `code` and `requestId`, for protocols that define their own form.
   * If the handler was reached, `operation` is the one that it got.
   */
  errorFields?(error: { code: string; sentence: string; operation: Id<'op'> }): Readonly<Record<string, unknown>>
  body?: Body
  /** The smallest body that is accepted, where the schema does not show it: a field may be required by another one. */
  example?: unknown
  query?: Query
  params?: Params
  /** The answers by status, for the reference; errors are described by their code. */
  answers: Readonly<Record<number, z.ZodType>>
  errors?: Readonly<Record<number, string>>
  handle(request: Decoded<Auth, Body, Query, Params>): Promise<Reply>
}

/**
 * `anyone`: no authentication. `optional`: authenticated if the request has a credential. `agent`: an agent's key too.
 * `person`: no agent's key.
 */
export type Authentication = 'anyone' | 'optional' | 'agent' | 'person'

export interface Decoded<
  Auth extends Authentication,
  Body extends z.ZodType,
  Query extends z.ZodType,
  Params extends z.ZodType,
> {
  caller: Auth extends 'agent' | 'person' ? Caller : Caller | null
  body: z.output<Body>
  /** The raw bytes of the body, which a signature covers. */
  rawBody: Buffer
  /** Throws unless the route takes a file. */
  upload(): Incoming
  query: z.output<Query>
  params: z.output<Params>
  /**
   * Names this operation. It stays the same for every repetition of an idempotent request, also after a crash:
   * everything the handler creates takes its id from here (`idLike`), so it cannot be created twice.
   */
  operation: Id<'op'>
  /**
   * Names the request's `Idempotency-Key` with its account and address: a repetition has the same one, also where a restored
   * database does not know the first. Null without a key.
   */
  keyHash: Buffer | null
  /** An earlier request may have begun the operation: its `Idempotency-Key` is not new. */
  mayHaveBegun: boolean
  /** The caller's network address. */
  address: string
  /** A request header by its name in lower case. */
  header(name: string): string | undefined
  /** True when the client is a browser that wants a page rather than JSON. */
  wantsPage: boolean
  /** The language that a page is for. */
  reader: Reader
  /** Aborts when the caller hangs up before the answer. */
  gone(): AbortSignal
}

/** An answer that is not JSON. */
export interface Page {
  /** With its charset. */
  type: string
  content: string | Buffer
  headers?: Readonly<Record<string, string>>
}

/** The schema of an answer that is a file. */
export const fileBytes = z.string().meta({ format: 'binary', description: 'The bytes of the file' })

/** A file on its way in. Its length is known, and as many bytes come, or an error. */
export interface Incoming {
  bytes: number
  mediaType: string | null
  chunks: AsyncIterable<Buffer>
}

/** A file on its way out. */
export interface Outgoing {
  type: string
  bytes: number
  chunks: AsyncIterable<Buffer>
  headers: Readonly<Record<string, string>>
}

/** One of `text/event-stream`. */
export interface ServerEvent {
  event: string
  data: unknown
  /** Sent unchanged, in place of the data. */
  text?: string
  id?: string
}

export interface Reply {
  status: number
  body: unknown
  /** Instead of the body. */
  page?: Page
  /** In place of the body: a file, sent as it is read. */
  file?: Outgoing
  /** In place of the body: events, sent as they happen, until the source ends or the client disconnects. */
  events?: (gone: AbortSignal) => AsyncIterable<ServerEvent>
  headers?: Readonly<Record<string, string>>
  /** What an idempotent replay answers instead: a secret is shown once. */
  replayBody?: unknown
  /** Called once, with whether the whole answer went out or the connection broke first. Not for a keyed request. */
  whenSent?(arrived: boolean): Promise<void>
}

export type AnyRoute = Route<Authentication, z.ZodType, z.ZodType, z.ZodType>

/**
 * An endpoint as the reference describes it. A declared route describes itself; a handler without routes (sign-in, MCP,
 * gates) is described beside it, under the address where it is mounted.
 */
export interface Described extends Pick<
  AnyRoute,
  | 'method'
  | 'path'
  | 'summary'
  | 'tag'
  | 'idempotent'
  | 'sells'
  | 'uploadBytesMax'
  | 'body'
  | 'example'
  | 'query'
  | 'params'
  | 'answers'
  | 'errors'
> {
  /** `session`: a person's sign-in; a key is not enough. */
  auth: Authentication | 'session'
  /** In paragraphs, with an empty line between two. */
  description?: string
  /** The request's headers, spelled as people write them. */
  headers?: z.ZodObject
  /** Refusals with their own body schema; all others have the usual error body. */
  refusals?: Readonly<Record<number, z.ZodType>>
  /** Complete exchanges, for endpoints where a sample request built from the schemas shows too little. */
  samples?: readonly { title: string; text: string }[]
}

export function reply(status: number, body: unknown): Reply {
  return { status, body }
}
