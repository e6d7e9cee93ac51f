import type { Config } from '../config.ts'
import { DomainError } from '../kit/errors.ts'
import type { Tracer } from '../kit/tracer.ts'
import { createToolServers } from '../mcp-client/servers.ts'
import { outboundClient } from '../outbound/client.ts'
import type { Upstreams } from './ports/calls.ts'

/** Access to the tools' servers: never on a private network, except for listed hosts. */
export function openUpstreams({ config, allowHosts, tracer }: UpstreamOptions) {
  const outbound = outboundClient({
    policy: { allowPrivate: false, allowHosts },
    tracing: tracer === null ? null : { tracer, passed: true },
  })
  const { TOOL_TIMEOUT_MS: timeoutMs, TOOL_ANSWER_BYTES_MAX: bodyBytes } = config
  const limits = { headersMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs, bodyBytes }
  const servers = createToolServers({ open: (request) => outbound.open(request), limits, version: '1' })
  return {
    outbound,
    async http({ url, method, headers, body }, signal) {
      // Only a request that changes nothing may be repeated at another address.
      const redirects = method === 'GET' ? 3 : 0
      const sent = body === null ? {} : { body }
      const answer = await outbound.send({ url, method, headers, limits, redirects, signal, ...sent })
      const type = answer.headers['content-type']
      return { status: answer.status, contentType: typeof type === 'string' ? type : null, body: answer.body }
    },
    servers,
    mcp: ({ upstream: { server, tool }, input, headers, onProgress }, signal) =>
      servers.call({ server, tool, input, headers, onProgress, signal }),
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

interface UpstreamOptions {
  config: Config
  allowHosts: readonly string[]
  tracer: Tracer | null
}
