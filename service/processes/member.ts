import type { MetricValues } from '../api/metrics.ts'
import type { Order, Report } from './model.ts'

/** The processes behind the same port, as one of them knows them. */
export interface Others {
  /** What this process is called. */
  name: string
  /** The metrics of all that answer in time, its own among them. */
  metrics(): Promise<MetricValues[]>
  /** How it reads its own when another one is asked. */
  readBy(read: () => Promise<MetricValues>): void
}

export interface Member {
  listens: boolean
  others: Others
  ready(port: number | null, demoKey: string | null): void
  onStop(stop: (notice: boolean) => void): void
}

/** Waits for the first process to say what this one is to do. When the first one is gone, Node ends this one as well. */
export async function asMember(): Promise<Member> {
  const waiting = new Map<number, (of: MetricValues[]) => void>()
  let asks = 0
  let read: (() => Promise<MetricValues>) | null = null
  let stop: ((notice: boolean) => void) | null = null
  let told: { notice: boolean } | null = null
  const begin = await new Promise<Extract<Order, { kind: 'begin' }>>((resolve) => {
    process.on('message', (order: Order) => {
      if (order.kind === 'begin') resolve(order)
      else if (order.kind === 'stop') {
        told = order
        stop?.(order.notice)
      } else if (order.kind === 'metrics') waiting.get(order.ask)?.(order.of)
      else if (order.kind === 'metrics wanted')
        // One that is still starting has nothing to tell, and is not waited for.
        void (read?.() ?? Promise.resolve([]))
          .catch(() => [])
          .then((values) => {
            report({ kind: 'metrics', ask: order.ask, values })
          })
    })
    // Only now can it hear.
    report({ kind: 'here' })
  })
  return {
    listens: begin.listens,
    others: {
      name: begin.name,
      async metrics() {
        const ask = asks++
        const of = await new Promise<MetricValues[]>((resolve) => {
          waiting.set(ask, resolve)
          report({ kind: 'metrics wanted', ask })
        })
        waiting.delete(ask)
        return of
      },
      readBy(given) {
        read = given
      },
    },
    ready(port, demoKey) {
      report({ kind: 'ready', port, demoKey })
    },
    onStop(given) {
      stop = given
      if (told !== null) given(told.notice)
    },
  }
}

/** The channel may be gone; then this process is about to end. */
function report(what: Report): void {
  if (process.connected) process.send?.(what)
}
