import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client'
import { createFigures, type Figures, type FigureSource } from './figures.ts'

/** The metrics of one process, as they go to another one. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[]

/** Other processes behind the same port: a scrape reaches any of them, and wants to know of all. */
interface OtherProcesses {
  /** The value of the label `process` here. */
  name: string
  /** The values of all that answer in time, of this one among them. */
  metrics(): Promise<MetricValues[]>
  readBy(read: () => Promise<MetricValues>): void
}

/** The metrics for Prometheus. Each instance has its own registry, so that tests can have several. */
export class Metrics {
  readonly registry = new Registry()

  private readonly requests = new Histogram({
    name: 'coinslot_http_request_seconds',
    help: 'Time to answer, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 180],
    registers: [this.registry],
  })
  private readonly refusals = new Counter({
    name: 'coinslot_refusals_total',
    help: 'Requests that were refused or failed, by reason code',
    labelNames: ['code'],
    registers: [this.registry],
  })
  private readonly events = new Counter({
    name: 'coinslot_events_total',
    help: 'Events, by name',
    labelNames: ['event'],
    registers: [this.registry],
  })
  private readonly pushes = new Counter({
    name: 'coinslot_queue_pushed_total',
    help: 'Rows of the outbox that were handed to the queue, by topic',
    labelNames: ['topic'],
    registers: [this.registry],
  })
  private readonly jobs = new Histogram({
    name: 'coinslot_queue_handled_seconds',
    help: 'Time that handlers took, by topic and outcome: done, retry, dead or returned',
    labelNames: ['topic', 'outcome'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 180],
    registers: [this.registry],
  })
  private readonly sweeps = new Histogram({
    name: 'coinslot_sweep_seconds',
    help: 'Time that sweepers took, by sweeper and whether they succeeded',
    labelNames: ['sweeper', 'outcome'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 30],
    registers: [this.registry],
  })
  private readonly figures: Figures
  private readonly others: OtherProcesses | null
  private readonly codes = new Bounded()
  private readonly names = new Bounded()

  /** Scrapes within `keepMs` of each other get the same values. */
  constructor(keepMs = 0, others: OtherProcesses | null = null) {
    const node = metricsOfNode()
    for (const { name } of node.getMetricsAsArray()) {
      const metric = node.getSingleMetric(name)
      if (metric !== undefined) this.registry.registerMetric(metric)
    }
    this.figures = createFigures(this.registry, keepMs)
    this.others = others
    if (others === null) return
    this.registry.setDefaultLabels({ process: others.name })
    others.readBy(() => this.values())
  }

  /**
   * The whole page. It never fails because of a metric that could not be read: that metric is missing, and the failure
   * is counted.
   */
  async page(): Promise<string> {
    if (this.others !== null) return await togetherOf(await this.others.metrics())
    await this.figures.read()
    return await this.registry.metrics()
  }

  private async values(): Promise<MetricValues> {
    await this.figures.read()
    return await this.registry.getMetricsAsJSON()
  }

  requestDone(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe({ method, route, status: String(status) }, seconds)
  }

  refused(code: string): void {
    this.refusals.inc({ code: this.codes.name(code) })
  }

  count(event: string, by = 1): void {
    this.events.inc({ event: this.names.name(event) }, by)
  }

  /** What a queue reports. */
  ofQueue() {
    return {
      pushed: (topic: string, rows: number): void => {
        this.pushes.inc({ topic }, rows)
      },
      handled: (topic: string, outcome: string, seconds: number): void => {
        this.jobs.observe({ topic, outcome }, seconds)
      },
      sweeps: (sweeper: string): void => {
        this.sweeps.zero({ sweeper, outcome: 'failed' })
      },
      swept: (sweeper: string, succeeded: boolean, seconds: number): void => {
        this.sweeps.observe({ sweeper, outcome: succeeded ? 'done' : 'failed' }, seconds)
      },
    }
  }

  /** One metric that is read when Prometheus scrapes. */
  watch(name: string, help: string, read: () => Promise<number> | number): void {
    this.collect({ source: name, declared: [{ name, help }], read: async () => [{ name, value: await read() }] })
  }

  /** Metrics that are read together, each with its labels. */
  collect(source: FigureSource): void {
    this.figures.add(source)
  }

  /** A value that is always in memory and costs nothing to read. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }
}

/** Nothing is summed up, since each value has the label of its process. */
async function togetherOf(all: readonly MetricValues[]): Promise<string> {
  const labelled = all.map((values) => values.map((metric) => ({ ...metric, aggregator: 'sum' as const })))
  return await AggregatorRegistry.aggregate(labelled).metrics()
}

/**
 * Codes and names come from our own code and are few. The limit protects the metrics if a label is ever built from a
 * caller's input.
 */
class Bounded {
  private readonly known = new Set<string>()

  name(name: string): string {
    if (this.known.has(name)) return name
    if (this.known.size >= NAMES_MAX) return 'other'
    this.known.add(name)
    return name
  }
}

const NAMES_MAX = 300

/**
 * What Node measures is of the whole process, and goes on until its end: another instance in this process uses the same
 * metrics.
 */
function metricsOfNode(): Registry {
  if (ofNode === null) {
    ofNode = new Registry()
    collectDefaultMetrics({ register: ofNode })
  }
  return ofNode
}

let ofNode: Registry | null = null
