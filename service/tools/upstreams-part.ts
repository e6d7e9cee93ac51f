import type { Config } from '../config.ts'
import { DomainError } from '../kit/errors.ts'
import type { Tracer } from '../kit/tracer.ts'
import { createToolServers } from '../mcp-client/servers.ts'
import { outboundClient, type Outbound } from '../outbound/client.ts'
import type { Upstreams } from './ports/calls.ts'

/** The ways to the tools' servers: never on a private network, except for hosts that are listed. */
export function openUpstreams({
  config,
  allowHosts,
  tracer,
}: {
  config: Config
  allowHosts: readonly string[]
  tracer: Tracer | null
}): OpenUpstreams {
  const outbound = outboundClient({
    policy: { allowPrivate: false, allowHosts },
    tracing: tracer === null ? null : { tracer, passed: true },
  })
  const limits = {
    headersMs: config.TOOL_TIMEOUT_MS,
    idleMs: config.TOOL_TIMEOUT_MS,
    totalMs: config.TOOL_TIMEOUT_MS,
    bodyBytes: config.TOOL_ANSWER_BYTES_MAX,
  }
  const servers = createToolServers({ open: (request) => outbound.open(request), limits, version: '1' })
  return {
    outbound,
    async http({ url, method, headers, body }, signal) {
      // Only what changes nothing may be asked for again elsewhere.
      const redirects = method === 'GET' ? 3 : 0
      const answer = await outbound.send({
        url,
        method,
        headers,
        limits,
        redirects,
        signal,
        ...(body === null ? {} : { body }),
      })
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
  }
}

export interface OpenUpstreams extends Upstreams {
  outbound: Outbound
  /** MCP servers, for those who ask them what they offer. */
  servers: ReturnType<typeof createToolServers>
  close(): Promise<void>
}
