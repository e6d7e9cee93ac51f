import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The numbers for Prometheus. One registry an instance, so that tests can have several. */
export class Metrics {
  readonly registry = new Registry()

  private readonly requests = new Histogram({
    name: 'coinslot_http_request_seconds',
    help: 'Time to answer, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 180],
    registers: [this.registry],
  })
  private readonly events = new Counter({
    name: 'coinslot_events_total',
    help: 'Things that happened, by name',
    labelNames: ['event'],
    registers: [this.registry],
  })

  constructor() {
    collectDefaultMetrics({ register: this.registry })
  }

  requestDone(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe({ method, route, status: String(status) }, seconds)
  }

  count(event: string, by = 1): void {
    this.events.inc({ event }, by)
  }

  /** What a queue reports, as events. */
  ofQueue() {
    return {
      pushed: (topic: string, rows: number): void => {
        this.count(`pushed ${topic}`, rows)
      },
      handled: (topic: string, outcome: string): void => {
        this.count(`${outcome} ${topic}`)
      },
      swept: (sweeper: string, succeeded: boolean): void => {
        this.count(`${succeeded ? 'swept' : 'sweep failed'} ${sweeper}`)
      },
    }
  }

  /** A figure that is asked for whenever the metrics are read. */
  watch(name: string, help: string, read: () => Promise<number> | number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        this.set(await read())
      },
    })
  }
}
