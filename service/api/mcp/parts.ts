import type {
  CallToolRequest,
  CallToolResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { Request, Response } from 'express'
import type { Redis } from 'ioredis'
import type { Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { helpPath } from '../../kit/error-codes/catalogue.ts'
import { DomainError } from '../../kit/errors.ts'
import { newId, type Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { Idempotency } from '../idempotency.ts'
import type { RateLimit } from '../limits.ts'

/** An MCP client's request: the caller, and the query of its address. */
export interface McpAsk {
  caller: Caller
  /** For a caller without a key, who pays for each call: the address by which such calls are limited. */
  guest: string | null
  /** The query of the address, and the names in its path: which tools the client wants. */
  query: Readonly<Record<string, string>>
  /** Names the operation of this request. */
  operation: Id<'op'>
  /** A client that loses the connection can come back for the answer. */
  resumable: boolean
  /** The client's own name of its only call, from the header `Idempotency-Key`. */
  idempotencyKey?: string
  /**
   * Set where the client opens pages and repeats a call without a state. Belongs to its session alone, so it names what
   * a call of the session has begun.
   */
  pageSession?: Id<'op'>
}

/** For several messages over one connection: each that is answered is an operation of its own. */
export function askForEach(ask: Omit<McpAsk, 'operation'>, clock: Clock): McpAsk {
  return {
    ...ask,
    get operation() {
      return newId('op', clock.now())
    },
  }
}

/** What an address serves to MCP clients. Both lines of the protocol are answered from this. */
export interface McpService {
  about(ask: McpAsk): { name: string; title: string; version: string; instructions: string }
  tools: {
    list(ask: McpAsk, cursor: string | undefined): Promise<ListToolsResult>
    call(ask: McpAsk, call: McpCall): Promise<CallToolResult>
  }
  /** Null where there are none. */
  resources: {
    list(ask: McpAsk, cursor: string | undefined): Promise<ListResourcesResult>
    templates(): ListResourceTemplatesResult
    read(ask: McpAsk, uri: string): Promise<ReadResourceResult>
  } | null
  /** Whether the answer to this caller's call of this tool is stored. */
  keeps(name: unknown, ask: McpAsk): boolean | Promise<boolean>
  /** Whether the answers to guests' calls are stored too. No when absent. */
  keepsForGuests?: true
  /**
   * A call whose answer is stored, as every process can read it. Null until its money is held. The caller was found to
   * be the one that made the operation.
   */
  task(ask: McpAsk, operation: Id<'op'>): Promise<McpTask | null>
  /** The operation by which this call is a task. Null or absent where it is the request's own. */
  taskOperation?(ask: McpAsk, params: McpCall['params']): Promise<Id<'op'> | null>
}

/** How far a call is. */
export type McpTask =
  /** `isFinal`: why it cannot be canceled any more. Absent while it can. */
  | { status: 'working'; isFinal?: string }
  | { status: 'completed' | 'cancelled'; result: CallToolResult; endedAt: Date }
  /** It has no result, because its process died. */
  | { status: 'failed'; sentence: string }

/** A `tools/call` request. */
export interface McpCall {
  params: CallToolRequest['params']
  signal: AbortSignal
  /** The operation may have been begun before: what was paid for is answered again. */
  repeats: boolean
  /** The client can show a page to its person. If one would help, the call throws `McpPageRequired`. */
  opensPages: boolean
  /** The client asked for progress, so it waits longer for a result. */
  hearsProgress: boolean
  /** Reaches only a client that asked for progress. */
  onProgress(step: { progress: number; total: number | null; message: string | null }): void
}

/** An error of the protocol, which a model cannot act on. */
export class McpFault extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: Readonly<Record<string, unknown>>,
  ) {
    super(message)
  }

  static params(sentence: string): McpFault {
    return new McpFault(-32_602, sentence)
  }
}

/** A call that a person can make possible on a page, such as by adding funds. */
export class McpPageRequired extends Error {
  constructor(
    readonly url: string,
    message: string,
    /** What a client that needs no person may do instead, in the result's `_meta`. */
    readonly meta: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }
}

/** The error that a client may see: protocol errors and the domain's messages, nothing internal. */
export function faultOf(error: unknown, { log, address }: Pick<McpDeps, 'log' | 'address'>): McpFault {
  if (error instanceof McpFault) return error
  if (error instanceof DomainError && error.kind !== 'failed') {
    const { code, message } = error
    return new McpFault(-32_602, message, { code, help: helpUrl(code, address) })
  }
  log.error({ err: error }, 'an MCP request failed')
  return new McpFault(-32_603, 'Something went wrong on our side.')
}

/** The page of the code. A whole address: what a model reads has no page that a path could belong to. */
export function helpUrl(code: string, address: string): string | null {
  const path = helpPath(code)
  return path === null ? null : new URL(path, address).href
}

export interface McpDeps {
  clock: Clock
  log: Log
  redis: Redis | null
  /** The address that clients know, with its path. It may have `:names`, as routes have. */
  address: string
  identify(authorization: string | undefined, request: Request): Promise<Caller>
  /** Where clients find out how to get an access token (RFC 9728). Null where there are none. */
  resourceMetadata: string | null
  /** The caller of requests without a key, which pay for each call. Null where nothing is sold so. */
  guest: Caller | null
  limit: RateLimit
  /** What `limit` allows in a minute, and so the most messages of one batch. Null where there is no limit. */
  messagesMax: number | null
  idempotency: Idempotency
  bodyBytesMax: number
  /** Origins of browser pages that may call it. */
  origins: readonly string[]
  /** Keys of sessions and of interrupted requests are derived from it. */
  secret: string
  /** How long a client that knows tasks waits for a result before it is given a task. */
  taskAfterMs: number
  service: McpService
}

/** The address, with the names in its path filled in. */
export function addressFor(address: string, query: McpAsk['query']): URL {
  const url = new URL(address)
  url.pathname = url.pathname.replaceAll(/:(\w+)/g, (_, name: string) => query[name] ?? '')
  return url
}

/** An error in the protocol's own form, which its clients can handle. */
export function refuse(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null })
}

/** Sends progress only when the request has a progress token. */
export function progressReporter(
  progressToken: string | number | undefined,
  send: (params: Progress) => Promise<void>,
): McpCall['onProgress'] {
  if (progressToken === undefined) return () => undefined
  let last = -1
  return ({ progress, total, message }) => {
    // Progress must grow, and the counter of a tool's own server may not.
    last = Math.max(progress, last + 1e-6)
    const optional = { ...(total === null ? {} : { total }), ...(message === null ? {} : { message }) }
    // The client may have disconnected. If that matters, the call's own result shows it.
    send({ progressToken, progress: last, ...optional }).catch(() => undefined)
  }
}

type Progress = { progressToken: string | number; progress: number; total?: number; message?: string }
