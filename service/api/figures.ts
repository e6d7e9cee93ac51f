import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics that are read together when Prometheus scrapes, for example by one SQL statement. */
export interface FigureSource {
  /** The label of this source in the failure counter. */
  source: string
  declared: readonly { name: string; help: string; labels?: readonly string[] }[]
  read(): Promise<readonly Figure[]>
}

export interface Figure {
  name: string
  labels?: Readonly<Record<string, string>>
  value: number
}

export interface Figures {
  add(source: FigureSource): void
  /** Brings the gauges up to date. Never rejects. */
  read(): Promise<void>
}

/**
 * A metric that could not be read is left out of the page: an old value would look as if all were well. Several
 * scrapers, or frequent scrapes, cause one reading per `keepMs`. A database that hangs delays a scrape by two seconds,
 * and that source's metrics are missing.
 */
export function createFigures(registry: Registry, keepMs: number): Figures {
  const failures = new Counter({
    name: 'coinslot_figures_failed_total',
    help: 'Metric readings that failed or timed out, by source',
    labelNames: ['source'],
    registers: [registry],
  })
  const sources: { read(): Promise<void>; at: number; reading: Promise<void> | null }[] = []

  return {
    add(source) {
      const gauges = new Map(
        source.declared.map(({ name, help, labels = [] }) => [
          name,
          new Gauge({ name, help, labelNames: labels, registers: [registry] }),
        ]),
      )
      failures.inc({ source: source.source }, 0)

      // A reading that hangs is not started a second time: each would take one more connection.
      let underWay: Promise<readonly Figure[]> | null = null

      async function read(): Promise<void> {
        let figures: readonly Figure[] = []
        try {
          underWay ??= source.read().finally(() => {
            underWay = null
          })
          figures = await inTime(underWay)
        } catch {
          failures.inc({ source: source.source })
        }
        for (const { name, labels = [] } of source.declared) {
          gauges.get(name)?.reset()
          // A gauge without labels shows 0 after a reset, which would look like a real value.
          if (labels.length === 0) gauges.get(name)?.remove()
        }
        for (const { name, labels, value } of figures) gauges.get(name)?.set(labels ?? {}, value)
      }
      sources.push({ read, at: -Infinity, reading: null })
    },
    async read() {
      const now = performance.now()
      await Promise.all(
        sources.map((source) => {
          if (source.reading === null && now - source.at < keepMs) return Promise.resolve()
          source.reading ??= source.read().finally(() => {
            source.reading = null
            source.at = performance.now()
          })
          return source.reading
        }),
      )
    },
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error('took too long'))
    }, PATIENCE_MS)
  })
  try {
    return await Promise.race([reading, late])
  } finally {
    clearTimeout(timer)
  }
}

const PATIENCE_MS = 2_000
