import type { ServerResponse } from 'node:http'
import { Stranger, type ReceivedRequest } from '../harness/stranger.ts'

/** A collector that receives traces by OTLP over HTTP. */
export class Collector extends Stranger {
  readonly spans: CollectedSpan[] = []

  protected answer({ body }: ReceivedRequest, response: ServerResponse): void {
    const { resourceSpans } = JSON.parse(body) as Export
    for (const { scopeSpans } of resourceSpans) {
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(collected))
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }

  /** Resolves when one trace has spans with all of these names. */
  async traceWith(names: readonly (string | RegExp)[]): Promise<CollectedSpan[]> {
    for (let times = this.requests.length; ; times++) {
      for (const traceId of new Set(this.spans.map((span) => span.traceId))) {
        const trace = this.spans.filter((span) => span.traceId === traceId)
        if (names.every((name) => trace.some((span) => fits(span.name, name)))) return trace
      }
      await this.waitForRequest('/v1/traces', times + 1)
    }
  }
}

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  kind: number
  links: { traceId: string }[]
  attributes: Record<string, unknown>
}

export function fits(name: string, pattern: string | RegExp): boolean {
  return typeof pattern === 'string' ? name === pattern : pattern.test(name)
}

interface Export {
  resourceSpans: { scopeSpans: { spans: RawSpan[] }[] }[]
}

type RawSpan = Omit<CollectedSpan, 'attributes' | 'links'> & {
  links?: { traceId: string }[]
  attributes: { key: string; value: Record<string, unknown> }[]
}

function collected(span: RawSpan): CollectedSpan {
  const attributes = Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
  return { ...span, links: span.links ?? [], attributes }
}
