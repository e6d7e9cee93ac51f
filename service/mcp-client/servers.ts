import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  type Tool,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js'
import { breathing } from '../kit/breath.ts'
import { startDeadline } from '../kit/deadline.ts'
import { DomainError } from '../kit/errors.ts'
import { fitted, plain, type Direction, type JsonSchema } from '../kit/schema/bounded.ts'
import { isRecord } from '../kit/schema/merge.ts'
import { upstreamError, upstreamTimeout } from '../tools/errors/call.ts'
import { serverRefused } from '../tools/errors/catalogue.ts'
import type { Output, Progress } from '../tools/model/call.ts'
import { bytesOf, type Operation, type Reading, type Skipped } from '../tools/model/draft.ts'
import type { ServerReading } from '../tools/ports/sources.ts'
import { createSessions, type SessionDeps } from './clients.ts'

/** MCP servers of other companies: reading their tools, and calling them. */
export function createToolServers(deps: SessionDeps & { readMs?: number }) {
  const sessions = createSessions(deps)
  return {
    /** The tools that it lists; what is wrong with the server is thrown as `mcp_server_refused`. */
    async read(reading: ServerReading): Promise<Reading> {
      const { signal } = reading
      const endsAt = performance.now() + (deps.readMs ?? READ_MS)
      const work = (client: Client) =>
        readAll(client, reading, endsAt).catch((error: unknown) => {
          throw signal?.aborted === true ? serverRefused('the request was closed.') : error
        })
      return await asRefusal(() => sessions.using(reading, work))
    },

    /**
     * The tool's output. A failure is thrown as `upstream_error`, with the status of HTTP where the server refused the key, or as
     * `upstream_timeout`.
     */
    async call({ server, caller, tool, input, headers, onProgress, signal }: ServerCall): Promise<Output> {
      const params = { name: tool, arguments: { ...input } }
      const options = {
        signal,
        timeout: deps.limits.totalMs ?? CALL_MS,
        onprogress: ({ progress, total, message }: ServerProgress) => {
          onProgress({ progress, total: total ?? null, message: message ?? null })
        },
      }
      try {
        const result = await sessions.using({ server, caller, headers }, (client) =>
          // Not by `callTool`: it would compile the server's own schema here to check its own answer.
          client.request({ method: 'tools/call', params }, CallToolResultSchema, options),
        )
        return toOutput(result)
      } catch (error) {
        if (error instanceof DomainError || signal.aborted) throw error
        throw failed(error)
      }
    },

    close: () => sessions.close(),
  }
}

export interface ServerCall {
  server: string
  caller: string
  tool: string
  input: Readonly<Record<string, unknown>>
  headers: Readonly<Record<string, string>>
  onProgress: (progress: Progress) => void
  signal: AbortSignal
}

type ServerProgress = Parameters<NonNullable<RequestOptions['onprogress']>>[0]

const CALL_MS = 60_000
const READ_MS = 60_000
const CHARACTERS_MAX = 40_000_000
const TOOLS_MAX = 5_000
/** A page may be empty, but not all of them. */
const PAGES_MAX = TOOLS_MAX

/**
 * Each page becomes operations before the next one is asked for. Bounded over all pages, in tools, characters and time:
 * the server may be hostile, and imports of other accounts wait meanwhile.
 */
async function readAll(client: Client, reading: ServerReading, endsAt: number): Promise<Reading> {
  const { server, charactersMax, check, signal } = reading
  const longest = charactersMax ?? CHARACTERS_MAX
  const operations: Operation[] = []
  const skipped: Skipped[] = []
  const breathe = breathing()
  let characters = 0
  let bytes = 0
  let pages = 0
  let cursor: string | undefined
  do {
    if (++pages > PAGES_MAX) throw serverRefused(`it lists its tools in more than ${String(PAGES_MAX)} pages.`)
    const page = await pageAt(cursor, client, { endsAt, signal })
    characters += JSON.stringify(page).length
    if (characters > longest) throw serverRefused(`its list of tools is longer than ${String(longest)} characters.`)
    if (operations.length + skipped.length + page.tools.length > TOOLS_MAX)
      throw serverRefused(`it lists more than ${String(TOOLS_MAX)} tools.`)
    for (const tool of page.tools) {
      const read = toOperation(tool, server)
      if ('why' in read) skipped.push(read)
      else {
        operations.push(read)
        bytes += bytesOf(read)
        check?.({ tools: operations.length, bytes })
      }
      await breathe()
      signal?.throwIfAborted()
      if (performance.now() > endsAt) throw tooSlow()
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  const info = client.getServerVersion()
  return {
    name: plain(info?.title ?? info?.name ?? '', 80),
    description: plain(client.getInstructions() ?? '', 400),
    version: info?.version ?? null,
    operations,
    skipped,
  }
}

/** Each page has a signal of its own: of a longer one, the SDK would cancel the earlier pages as well. */
async function pageAt(cursor: string | undefined, client: Client, { endsAt, signal }: Ending) {
  const params = cursor === undefined ? {} : { cursor }
  const deadline = startDeadline(endsAt - performance.now(), tooSlow, signal)
  try {
    const options = { signal: deadline.signal }
    return await deadline.race(client.request({ method: 'tools/list', params }, ListToolsResultSchema, options))
  } finally {
    deadline.stop()
  }
}

interface Ending {
  endsAt: number
  signal: AbortSignal | undefined
}

function tooSlow(): DomainError {
  return serverRefused('it takes too long to list its tools.')
}

function toOperation(tool: Tool, server: string): Operation | Skipped {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  const input = bounded(inputSchema, 'input', INPUT_BYTES_MAX)
  if (input === null) return { operation: name, why: 'its inputs are too large' }
  const shown = title ?? annotations?.title
  const words = plain(name.replaceAll(/([a-z0-9])([A-Z])|[_./-]+/g, '$1 $2').trim(), 120)
  return {
    operation: name,
    name: shown === undefined ? words.charAt(0).toUpperCase() + words.slice(1) : plain(shown, 120),
    description: plain(description ?? '', 700) || `${words}.`,
    category: null,
    deprecated: false,
    input: { properties: {}, ...input, type: 'object' },
    output: outputSchema === undefined ? null : bounded(outputSchema, 'output', OUTPUT_BYTES_MAX),
    upstream: { kind: 'mcp', server, tool: name, ...(annotations?.readOnlyHint === true ? { readOnly: true } : {}) },
  }
}

/** Less deep until it fits, then without descriptions. */
function bounded(schema: unknown, direction: Direction, bytes: number): JsonSchema | null {
  if (!isRecord(schema)) return null
  const tries = [true, false].flatMap((descriptions) =>
    [8, 5, 3, 2, 1].map((depth) => ({ direction, depth, nodes: 1_500, descriptions, root: schema })),
  )
  return fitted(tries, bytes, (conversion) => conversion.convert(schema))
}

const INPUT_BYTES_MAX = 16_000
const OUTPUT_BYTES_MAX = 8_000

async function asRefusal(work: () => Promise<Reading>): Promise<Reading> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DomainError) throw error
    const why = error instanceof McpError ? error.message : 'it does not answer as one.'
    throw serverRefused(/[.!?]$/.test(why) ? why : `${why}.`)
  }
}

function failed(error: unknown): DomainError {
  if (isLate(error)) return upstreamTimeout(error)
  if (error instanceof McpError && error.code !== (ErrorCode.ConnectionClosed as number)) {
    return upstreamError('The tool failed.', { status: 200, message: plain(error.message, MESSAGE_MAX) }, error)
  }
  const status = error instanceof StreamableHTTPError ? (error.code ?? 0) : 0
  // Another 4xx is about a message that is made here, and would blame the caller for it.
  if (!REFUSALS.has(status)) return upstreamError('The tool failed.', undefined, error)
  return upstreamError(`The tool refused the call with ${String(status)}.`, { status, message: null }, error)
}

/** The SDK has given up. It has the form of an answer of the server, which would blame the caller for it. */
function isLate(error: unknown): boolean {
  const { RequestTimeout } = ErrorCode
  return (
    error instanceof McpError &&
    error.code === (RequestTimeout as number) &&
    isRecord(error.data) &&
    'timeout' in error.data
  )
}

/** The key is not accepted, may not do this, or was used too often. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429])

/** An answer with `isError` is a failure. */
function toOutput({ content, structuredContent, isError }: CallToolResult): Output {
  if (isError === true) {
    throw upstreamError('The tool failed.', { status: 200, message: plain(textOf(content), MESSAGE_MAX) || null })
  }
  if (structuredContent !== undefined) return { kind: 'json', value: structuredContent }
  const [first] = content
  if (content.length === 1 && (first?.type === 'image' || first?.type === 'audio')) {
    const { data, mimeType } = first
    return { kind: 'binary', value: { contentType: mimeType, base64: data, bytes: Buffer.byteLength(data, 'base64') } }
  }
  if (content.every(({ type }) => type === 'text')) return { kind: 'text', value: textOf(content) }
  return { kind: 'json', value: { content } }
}

function textOf(content: CallToolResult['content']): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

const MESSAGE_MAX = 500
