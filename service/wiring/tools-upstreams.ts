import type { Readable } from 'node:stream'
import type { Config } from '../config.ts'
import { DomainError } from '../kit/errors.ts'
import type { Tracer } from '../kit/tracer.ts'
import { createToolServers } from '../mcp-client/servers.ts'
import { normalised } from '../outbound/addresses.ts'
import { outboundClient } from '../outbound/client.ts'
import type { Upstreams } from '../tools/ports/calls.ts'

/** Access to the tools' servers: never on a private network, except for listed hosts. */
export function openUpstreams({ config, allowHosts, tracer }: UpstreamOptions) {
  const policy = normalised({ allowPrivate: false, allowHosts })
  const outbound = outboundClient({ policy, tracing: tracer === null ? null : { tracer, passed: false } })
  const { TOOL_TIMEOUT_MS: timeoutMs, TOOL_ANSWER_BYTES_MAX: bodyBytes, TOOL_LARGE_ANSWER_BYTES_MAX } = config
  const largest = Math.max(bodyBytes, TOOL_LARGE_ANSWER_BYTES_MAX)
  const limits = { headersMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs, bodyBytes }
  const servers = createToolServers({ open: (request) => outbound.open(request), limits, version: '1' })
  return {
    outbound,
    policy,
    async http({ url, method, headers, body, staysHere = false }, signal, large) {
      // Only a request that changes nothing may be repeated at another address.
      const redirects = method === 'GET' && !staysHere ? 3 : 0
      const sent = body === null ? {} : { body }
      const most = large === undefined ? limits : { ...limits, bodyBytes: largest }
      const answer = await outbound.open({ url, method, headers, limits: most, redirects, signal, ...sent })
      const one = (name: string): string | null => {
        const given = answer.headers[name]
        return typeof given === 'object' ? given.join(', ') : (given ?? null)
      }
      const follow = {
        location: one('location'),
        operation: one('operation-location') ?? one('azure-asyncoperation'),
        retryAfter: one('retry-after'),
      }
      const whole = await received(answer.body, () => large?.take(), bodyBytes)
      const about = { status: answer.status, contentType: one('content-type'), link: one('link'), body: whole }
      return Object.values(follow).every((value) => value === null) ? about : { ...about, follow }
    },
    async fetch(url, bodyBytes, signal) {
      const answer = await outbound.send({ url, limits: { ...limits, bodyBytes }, redirects: 3, signal })
      const { 'content-type': type } = answer.headers
      return { status: answer.status, contentType: typeof type === 'string' ? type : null, body: answer.body }
    },
    servers,
    mcp: ({ upstream: { server, tool }, caller, input, headers, onProgress }, signal) =>
      servers.call({ server, caller, tool, input, headers, onProgress, signal }),
    async isThere(url) {
      try {
        await outbound.send({ url, limits: { totalMs: 5_000, bodyBytes: 1_024 }, truncate: true, redirects: 'pass' })
        return true
      } catch (error) {
        if (error instanceof DomainError) return false
        throw error
      }
    },
    async close() {
      await servers.close()
      await outbound.close()
    },
  } satisfies Upstreams & Record<string, unknown>
}

/** The whole body. Tells as soon as it is more than ordinary. */
async function received(body: Readable, whenLarge: () => void, ordinary: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  // A loop that is left by an error hangs up.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (bytes <= ordinary && bytes + chunk.length > ordinary) whenLarge()
    bytes += chunk.length
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

interface UpstreamOptions {
  config: Config
  allowHosts: readonly string[]
  tracer: Tracer | null
}
