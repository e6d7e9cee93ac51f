import type { Sweeper } from '../../queue/model.ts'
import type { PublishedTools } from '../ports/sources.ts'
import type { Catalogue } from '../service/catalogue.ts'

/** What creators publish is found among the tools half a minute later at most. */
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
