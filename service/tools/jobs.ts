import type { Sweeper } from '../queue/model.ts'
import type { Calls } from './service/calls/calls.ts'
import type { PublishedTools } from './service/catalogue/published.ts'
import type { Catalogue } from './service/catalogue/catalogue.ts'

export function callSweepers(calls: Calls): Sweeper[] {
  return [
    {
      name: 'tools.figures',
      everyMs: 1_000,
      async run() {
        await calls.foldStats()
      },
    },
    { name: 'tools.failing', everyMs: 30_000, run: (now) => calls.checkFailing(now) },
    { name: 'tools.forget', everyMs: 600_000, run: (now) => calls.forget(now) },
  ]
}

/** A published asset appears among the tools after half a minute at most. */
export function catalogueSweepers(catalogue: Catalogue, published: PublishedTools): Sweeper[] {
  return [
    {
      name: 'tools.published',
      everyMs: 30_000,
      async run() {
        for (const environment of ['sandbox', 'production'] as const) {
          const { reading, prices } = await published.read(environment)
          await catalogue.importAssets(environment, reading, prices)
        }
      },
    },
  ]
}
