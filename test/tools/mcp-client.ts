import { Client, StreamableHTTPClientTransport, type ClientCapabilities } from '@modelcontextprotocol/client'

export const VERSION = '2026-07-28'

/** The official client, which talks this version of the protocol only. */
export async function statelessClient(address: string, key: string | null, capabilities: ClientCapabilities = {}) {
  const headers = key === null ? {} : { authorization: `Bearer ${key}` }
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: VERSION } } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }))
  return client
}

export interface Message {
  method: string
  params?: Record<string, unknown>
  capabilities?: ClientCapabilities
  /** Replace or, when null, remove what a client would send. */
  headers?: Record<string, string | null>
  signal?: AbortSignal
  /** Called with each piece of the answer as it arrives. */
  onPiece?(piece: string): void
}

/** One message by hand, for what the official client does not send. */
export async function post(address: string, key: string | null, message: Message) {
  const { method, params = {}, capabilities = {}, headers: own = {}, signal, onPiece } = message
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params['_meta'] as object | undefined),
  }
  const name = params['name'] ?? params['uri'] ?? params['taskId']
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    'mcp-name': typeof name === 'string' ? name : null,
    authorization: key === null ? null : `Bearer ${key}`,
    ...own,
  }
  const response = await fetch(address, {
    method: 'POST',
    headers: Object.entries(headers).filter((one): one is [string, string] => one[1] !== null),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    signal: signal ?? null,
  })
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    onPiece?.(piece)
  }
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Body)
  const body = events.at(-1) ?? (JSON.parse(text) as Body)
  return { status: response.status, body, events }
}

/** A message of the server, which a test looks into field by field. */
interface Body {
  id: unknown
  // oxlint-disable-next-line typescript/no-explicit-any -- as the answers of the harness
  result?: any
  error?: { code: number; message: string; data?: unknown }
  // oxlint-disable-next-line typescript/no-explicit-any -- as the answers of the harness
  params?: any
}
