import type { Departure } from '../../../kit/departure.ts'
import { DomainError } from '../../../kit/errors.ts'
import { upstreamError, upstreamTimeout } from '../../errors/call.ts'
import type { CallId, Failure, Fault, Output, Progress } from '../../model/call.ts'
import type { Tool, UpstreamRequest } from '../../model/tool.ts'
import { blames, outputOf } from '../../rules/answer.ts'
import { requestOf } from '../../rules/request.ts'
import type { CallDeps } from './order.ts'

/** Calls the server behind a tool. Throws the server's failure as an upstream error, or as a timeout. */
export function createReach({ catalogue, upstreams, timeoutMs }: CallDeps) {
  async function ask({ callId, tool, input, signal, departure, onProgress }: ReachInput): Promise<Output> {
    const { upstream } = tool
    // Not `AbortSignal.any`: the caller's signal, which can live as long as the process, would keep a reference to it.
    const either = new AbortController()
    const leave = (): void => either.abort(signal.reason)
    const late = setTimeout(() => either.abort(LATE), timeoutMs)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      return await orAborted(work(either.signal), either.signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (either.signal.reason === LATE) throw upstreamTimeout()
      throw toUpstream(error)
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', leave)
    }

    async function work(until: AbortSignal): Promise<Output> {
      switch (upstream.kind) {
        case 'http': {
          if (await catalogue.isSimulated(tool)) {
            departure.leave()
            return outputOf(catalogue.simulate(tool, input), tool.output !== null)
          }
          const request = named(requestOf(upstream, input, await catalogue.credentials(tool)), callId)
          departure.leave()
          return outputOf(await upstreams.http(request, until), tool.output !== null)
        }
        case 'mcp': {
          const { headers } = await catalogue.credentials(tool)
          departure.leave()
          return await upstreams.mcp({ upstream, input, headers, onProgress }, until)
        }
        case 'rda':
          throw new Error('a creator’s tool is run, not reached')
      }
    }
  }
  return { ask }
}

export type Reach = ReturnType<typeof createReach>

export interface ReachInput {
  callId: CallId
  tool: Tool
  input: Readonly<Record<string, unknown>>
  signal: AbortSignal
  /** Knows whether the tool's server has been asked. After that the caller can no longer take the call back. */
  departure: Departure
  onProgress: (progress: Progress) => void
}

/** A failed call's error and the party at fault, for its row. */
export function failureOf(error: unknown): { failure: Failure; fault: Fault } {
  const known = error instanceof DomainError ? error : null
  const sentence = (known?.message ?? 'An internal error.').slice(0, 500)
  return { failure: { code: known?.code ?? 'internal', sentence }, fault: faultOf(error) }
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof DomainError)) return 'ours'
  if (error.code === 'upstream_timeout') return 'upstream'
  if (error.code !== 'upstream_error') return error.kind === 'invalid' ? 'caller' : 'ours'
  const { upstream } = error.fields as { upstream?: { status?: number } }
  return upstream?.status === undefined ? 'upstream' : blames(upstream.status)
}

/** Sends the call's id, so that a server that supports it recognises a call that is repeated after a crash. */
function named(request: UpstreamRequest, callId: CallId): UpstreamRequest {
  if (request.method === 'GET') return request
  return { ...request, headers: { 'idempotency-key': callId, ...request.headers } }
}

const LATE = new Error('the tool timed out')

/** Without the host and the request, which only concern the provider. */
function toUpstream(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  if (error.code === 'upstream_error' || error.code === 'tool_broken') return error
  switch (error.kind) {
    case 'late':
      return upstreamTimeout(error)
    case 'upstream':
      return upstreamError(SENTENCES[error.code] ?? 'The tool cannot be reached.', undefined, error)
    case 'invalid':
      // An error about the input names the field. An error about the address must not reach the caller.
      return 'details' in error.fields ? error : upstreamError('The tool cannot be reached.', undefined, error)
    default:
      return error
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  response_too_large: 'The tool returned a response that is too large.',
  response_undecodable: 'The tool returned an unsupported encoding.',
  response_invalid: 'The tool did not return valid HTTP.',
  redirect_refused: 'The tool answered with a redirect that is not followed.',
}

/** Work that ignores the signal is not waited for. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort)
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
