import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context as TraceContext,
  type Link,
  type Span,
  type SpanContext,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  TracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import { currentContext, within } from '../kit/context.ts'
import type { StepAttributes, Step, Tracer } from '../kit/tracer.ts'

export interface TracingSettings {
  /** The address of an OTLP collector over HTTP. `/v1/traces` is added. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  instance: string
  /** The share of new traces that are recorded, 0 to 1. */
  share: number
}

export interface Tracing extends Tracer {
  /** Sends the collected steps now. */
  flush(): Promise<void>
  close(): Promise<void>
}

/**
 * OpenTelemetry's SDK behind our own interface. Loaded only when a collector is configured. Rejected: its automatic
 * instrumentation, which patches modules as they load, needs its own loader for ES modules, and could expose statements
 * with their values. The few places that matter describe their own steps.
 */
export function openTelemetry(settings: TracingSettings): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${settings.endpoint}/v1/traces`,
    headers: settings.headers,
    timeoutMillis: 10_000,
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.instance.id': settings.instance,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.share) }),
    // An unavailable collector costs memory for this many steps at most. Further steps are dropped.
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 4_096, scheduledDelayMillis: 500 })],
  })
  const tracer = provider.getTracer('coinslot')

  async function run<T>(step: Step, work: (said: StepAttributes) => Promise<T>, under: Span | undefined): Promise<T> {
    const { context, links } = placeOf(step, under)
    const name = typeof step.name === 'string' ? step.name : 'unnamed'
    const span = tracer.startSpan(name, { kind: KINDS[step.kind], attributes: step.attributes ?? {}, links }, context)
    const said: StepAttributes = {}
    try {
      return await within({ tags: currentContext()?.tags ?? {}, step: span }, () => work(said))
    } catch (error) {
      blame(span, error)
      throw error
    } finally {
      if (typeof step.name === 'function') span.updateName(step.name())
      span.setAttributes(said)
      if (said['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    }
  }

  return {
    step: (step, work) => run(step, work, current()),
    within(step, work) {
      const under = current()
      return under?.isRecording() === true ? run(step, work, under) : work({})
    },
    parent() {
      const span = current()
      return span === undefined ? undefined : written(span.spanContext())
    },
    flush: () => provider.forceFlush(),
    close: () => provider.shutdown(),
  }
}

function current(): Span | undefined {
  return currentContext()?.step as Span | undefined
}

/**
 * Under the current step, else under the step it continues. A trace from an untrusted caller is linked, never
 * continued.
 */
function placeOf(step: Step, under: Span | undefined): { context: TraceContext; links: Link[] } {
  const from = step.from === undefined ? null : read(step.from.traceparent)
  if (from !== null && step.from?.trusted === true)
    return { context: trace.setSpanContext(ROOT_CONTEXT, from), links: [] }
  const links = from === null ? [] : [{ context: from }]
  return { context: under === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, under), links }
}

/** Reports the error's code only. Its message may contain a user's data and stays in the log. */
function blame(span: Span, error: unknown): void {
  const { code } = (error ?? {}) as { code?: unknown }
  const type = typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown'
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function written({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function read(traceparent: string): SpanContext | null {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(traceparent)
  const [, traceId = '', spanId = '', flags = ''] = match ?? []
  if (match === null || /^0+$/.test(traceId) || /^0+$/.test(spanId) || traceparent.startsWith('ff')) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  inner: SpanKind.INTERNAL,
} as const
