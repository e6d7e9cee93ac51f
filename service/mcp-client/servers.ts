import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolResultSchema,
  ListToolsResultSchema,
  McpError,
  type Tool,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js'
import { DomainError } from '../kit/errors.ts'
import { fitted, plain, type Direction, type JsonSchema } from '../kit/schema/bounded.ts'
import { isRecord } from '../kit/schema/merge.ts'
import { upstreamError } from '../tools/errors/call.ts'
import { serverRefused } from '../tools/errors/catalogue.ts'
import type { Output, Progress } from '../tools/model/call.ts'
import type { Operation, Reading, Skipped } from '../tools/model/draft.ts'
import { createSessions, type SessionDeps } from './clients.ts'

/** MCP servers of other companies: reading their tools, and calling them. */
export function createToolServers(deps: SessionDeps) {
  const sessions = createSessions(deps)
  return {
    read: (server: string, caller: string, headers: Readonly<Record<string, string>>): Promise<Reading> =>
      asRefusal(() => sessions.using({ server, caller, headers }, (client) => readAll(client, server))),

    /** The tool's output; a failure is thrown as `upstream_error`, with the status of HTTP where the server refused the key. */
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
const PAGES_MAX = 100
const TOOLS_MAX = 5_000

async function readAll(client: Client, server: string): Promise<Reading> {
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let pages = 0; ; pages++) {
    const params = cursor === undefined ? {} : { cursor }
    const page = await client.request({ method: 'tools/list', params }, ListToolsResultSchema)
    tools.push(...page.tools)
    cursor = page.nextCursor
    if (tools.length > TOOLS_MAX || pages > PAGES_MAX)
      throw serverRefused(`it lists more than ${String(TOOLS_MAX)} tools.`)
    if (cursor === undefined) break
  }
  const read = tools.map((tool) => toOperation(tool, server))
  const info = client.getServerVersion()
  return {
    name: plain(info?.title ?? info?.name ?? '', 80),
    description: plain(client.getInstructions() ?? '', 400),
    version: info?.version ?? null,
    operations: read.filter((one): one is Operation => 'input' in one),
    skipped: read.filter((one): one is Skipped => 'why' in one),
  }
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
  if (error instanceof McpError) {
    return upstreamError('The tool failed.', { status: 200, message: plain(error.message, MESSAGE_MAX) }, error)
  }
  const status = error instanceof StreamableHTTPError ? (error.code ?? 0) : 0
  // Another 4xx is about a message that is made here, and would blame the caller for it.
  if (!REFUSALS.has(status)) return upstreamError('The tool failed.', undefined, error)
  return upstreamError(`The tool refused the call with ${String(status)}.`, { status, message: null }, error)
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
