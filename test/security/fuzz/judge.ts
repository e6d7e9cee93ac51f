import type { Reply } from './wire.ts'
import type { Shot } from './oddities.ts'

export interface Expectations {
  /** An answer that takes longer is a fault. */
  patienceMs: number
  /** Paths of the Model Context Protocol, as they are mounted: errors there have the form of JSON-RPC. */
  mcp: readonly string[]
}

/** Why a response is not allowed, or null. */
export function faultOf(shot: Shot, reply: Reply, { patienceMs, mcp }: Expectations): string | null {
  if (reply.kind === 'silent') return `no answer within ${String(patienceMs)} ms`
  if (reply.ms > patienceMs) return `answered after ${String(Math.round(reply.ms))} ms`
  // A client that hangs up early needs no response.
  if (reply.kind === 'closed') return shot.ends ? null : 'closed without an answer'
  const { status, headers, body } = reply
  if (head(shot).startsWith('HEAD ') || status < 400) return leak(body) ?? injected(headers)
  if (status >= 500 && !OTHERS_FAULT.has(`${String(status)} ${codeOf(body)}`)) {
    return `answered ${String(status)} ${codeOf(body)}`
  }
  return injected(headers) ?? leak(body) ?? formOf(reply, head(shot), mcp)
}

/** Allowed responses when a third party's address or network fails. */
const OTHERS_FAULT: ReadonlySet<string> = new Set([
  '502 upstream_error',
  '502 address_unreachable',
  '503 workflow_unavailable',
  '503 network_unavailable',
])

function head(shot: Shot): string {
  return shot.bytes.toString('latin1', 0, 40)
}

function codeOf(body: string): string {
  return /"(?:code|reason)":"(\w+)"/.exec(body)?.[1] ?? ''
}

/** The service's error format; two protocols have their own, and browsers get a page. */
function formOf(
  { status, headers, body }: Extract<Reply, { kind: 'answered' }>,
  requestLine: string,
  mcp: readonly string[],
): string | null {
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/html'))
    return body.includes('<!doctype html>') || body.includes('<!DOCTYPE html>') ? null : 'not a page'
  if (!/^application\/(problem\+)?json/.test(type))
    return `${String(status)} as ${type || 'nothing'}: ${body.slice(0, 200)}`
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return `${String(status)} with what is no JSON: ${body.slice(0, 200)}`
  }
  if (mcp.some((path) => isAt(path, requestLine)) && isRpc(json)) return null
  // tRPC's own format; a request that is no valid call has the request's id in the header alone.
  if (/^\w+ \/trpc\b/.test(requestLine) && [json].flat().every(isTrpc))
    return headers.has('x-request-id') ? null : 'without an id'
  const { error, code, requestId } = json as Record<string, unknown>
  if (typeof error !== 'string' || error === '') return `${String(status)} without a sentence: ${body.slice(0, 200)}`
  if (typeof code !== 'string' || !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(code))
    return `${String(status)} without a code: ${body.slice(0, 200)}`
  // A 402 of x402 has the protocol's own form.
  if (status === 402) return null
  return typeof requestId === 'string' && headers.get('x-request-id') !== undefined
    ? null
    : `${String(status)} without the request's id: ${body.slice(0, 200)}`
}

function isAt(mounted: string, requestLine: string): boolean {
  const path = mounted.replaceAll(/:\w+/g, '[^/ ?]+')
  return new RegExp(`^\\w+ ${path}(?=[/ ?]|$)`).test(requestLine)
}

function isRpc(json: unknown): boolean {
  const { jsonrpc, error } = (json ?? {}) as Record<string, unknown>
  return jsonrpc === '2.0' && typeof error === 'object'
}

function isTrpc(json: unknown): boolean {
  const { error, result } = (json ?? {}) as Record<string, { data?: { code?: unknown } }>
  return result !== undefined || typeof error?.data?.code === 'string'
}

function injected(headers: ReadonlyMap<string, string>): string | null {
  return headers.has('x-injected') ? 'a header was injected' : null
}

/** Finds details of the implementation in a response. */
function leak(body: string): string | null {
  const found =
    /node_modules|at \w+ \(|\/service\/\w+|\bprisma\b|PostgresError|SELECT .* FROM|syntax error at|ECONNREFUSED|\bundefined is not\b|Cannot read prop/i.exec(
      body,
    )
  return found === null
    ? null
    : `tells of its inside: …${body.slice(Math.max(0, found.index - 60), found.index + 100)}…`
}
