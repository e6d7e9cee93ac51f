import type { Duplex, Readable } from 'node:stream'
import { Agent } from 'undici'
import { normalised, toTarget } from './addresses.ts'
import { guardedConnector } from './connector.ts'
import { assertNoTransaction } from '../kit/transaction.ts'
import { explain } from './errors.ts'
import { toMethod } from './headers.ts'
import { systemResolve } from './lookup.ts'
import type { Policy, Resolve } from './model.ts'

/**
 * Forwards requests byte by byte, for a gateway: nothing is decoded, followed or collected, and only the silence
 * between two pieces is limited. Its sockets have the same address check.
 */
export interface Relay {
  pass(request: RelayRequest): Promise<RelayAnswer>
  /** Requests another protocol. Rejects when the server does not switch to it. */
  upgrade(request: Omit<RelayRequest, 'body'> & { protocol: string }): Promise<RelayAnswer & { tunnel: Duplex }>
  close(): Promise<void>
}

export interface RelayRequest {
  /** Everything before `path`. The path is sent unchanged. */
  readonly origin: string
  readonly path: string
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Readable | null
  readonly signal: AbortSignal
}

export interface RelayAnswer {
  readonly status: number
  readonly headers: [name: string, value: string][]
  readonly body: Readable
  /** The headers after the body. Empty before the body has ended. */
  trailers(): Readonly<Record<string, string>>
  readonly tunnel: Duplex | null
}

export function relayClient(options: {
  readonly policy: Policy
  readonly headersMs: number
  readonly idleMs: number
  readonly connectMs?: number
  readonly resolve?: Resolve
}): Relay {
  const policy = normalised(options.policy)
  const connector = guardedConnector(policy, options.resolve ?? systemResolve, options.connectMs ?? 5_000, undefined)
  const agent = new Agent({
    connect: connector,
    connections: CONNECTIONS_PER_ORIGIN,
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: options.headersMs,
    bodyTimeout: options.idleMs,
  })

  const targets = new Map<string, Target>()

  /** Parsed once for each origin: the policy stays as it is, and names are checked when a socket is opened. */
  function targetOf(origin: string): Target {
    let target = targets.get(origin)
    if (target === undefined) {
      const { host, origin: parsed } = toTarget(origin, policy)
      target = { host, origin: parsed }
      if (targets.size >= TARGETS_MAX) targets.clear()
      targets.set(origin, target)
    }
    return target
  }

  function asked({ origin, path, method, headers, signal }: Omit<RelayRequest, 'body'>, body: Readable | null) {
    assertNoTransaction('another server')
    const target = targetOf(origin)
    const flat: string[] = []
    for (const [name, value] of headers) flat.push(name, value)
    return {
      host: target.host,
      options: {
        origin: target.origin,
        path,
        method: toMethod(method),
        headers: flat,
        body,
        signal,
        responseHeaders: 'raw',
      },
    } as const
  }

  return {
    async pass(request) {
      const { host, options: sent } = asked(request, request.body)
      try {
        const answer = await agent.request(sent)
        const { statusCode: status, body } = answer
        const trailers = (): Readonly<Record<string, string>> => answer.trailers
        return { status, headers: pairs(answer.headers), body, trailers, tunnel: null }
      } catch (error) {
        throw request.signal.aborted ? error : explain(error, host)
      }
    },

    async upgrade(request) {
      const { host, options: sent } = asked(request, null)
      try {
        const { headers, socket } = await agent.upgrade({ ...sent, protocol: request.protocol })
        return { status: 101, headers: pairs(headers), body: socket, trailers: () => ({}), tunnel: socket }
      } catch (error) {
        throw request.signal.aborted ? error : explain(error, host)
      }
    },

    // Open streams would never end by themselves.
    close: () => agent.destroy(),
  }
}

/** Raw headers come as one flat list, which the types do not show. */
function pairs(raw: unknown): [string, string][] {
  const flat = raw as string[]
  return Array.from({ length: flat.length / 2 }, (_, place) => [flat[2 * place] ?? '', flat[2 * place + 1] ?? ''])
}

interface Target {
  host: string
  origin: string
}

const TARGETS_MAX = 1_000
const HEADER_BYTES = 16_384
const CONNECTIONS_PER_ORIGIN = 256
