import { hostname } from 'node:os'
import type { Config } from '../config.ts'
import type { Tracing } from '../tracing/opentelemetry.ts'

/** Without a collector nothing of it is loaded. */
export async function openTracing(config: Config): Promise<Tracing | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined) return null
  const { openTelemetry } = await import('../tracing/opentelemetry.ts')
  return openTelemetry({
    endpoint,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: config.OTEL_SERVICE_NAME,
    instance: `${hostname()}-${String(process.pid)}`,
    share: config.OTEL_TRACES_SAMPLER_ARG,
  })
}
