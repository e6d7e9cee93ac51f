import type { Clock } from '../kit/clock.ts'
import { toJsonSchema, type Field } from '../kit/fields.ts'
import type { Usdc } from '../kit/money.ts'
import type { Environment } from '../kit/owner.ts'
import type { Summary } from '../marketplace/model/asset.ts'
import type { AssetStore } from '../marketplace/ports/asset.ts'
import type { Operation } from './model/draft.ts'
import type { PublishedTools } from './ports/sources.ts'

/** Creators' tools as the catalogue lists them: the most wanted, since every process has all that it lists at hand. */
export function publishedTools(store: Pick<AssetStore, 'list' | 'find'>, clock: Clock): PublishedTools {
  /** What was read before and has not been edited since is not read again. */
  let known = new Map<string, Known>()

  async function read(summary: Summary): Promise<Known> {
    const before = known.get(summary.id)
    if (before?.updatedAt === summary.updatedAt.getTime()) return before
    const found = await store.find(summary.environment, summary.id)
    return {
      environment: summary.environment,
      updatedAt: summary.updatedAt.getTime(),
      price: summary.pricing.amount,
      operation: toOperation(summary, found?.asset.content.inputs ?? []),
    }
  }

  return {
    async read(environment) {
      const summaries: Summary[] = []
      for (let offset = 0; offset < LISTED_MAX; offset += PAGE) {
        const { assets } = await store.list({ ...PUBLISHED, environment, limit: PAGE, offset }, null, clock.now())
        summaries.push(...assets)
        if (assets.length < PAGE) break
      }
      const others = [...known].filter(([, one]) => one.environment !== environment)
      const all = new Map<string, Known>()
      for (const summary of summaries) all.set(summary.id, await read(summary))
      known = new Map([...others, ...all])
      const sorted = [...all.values()].sort((one, other) =>
        one.operation.operation < other.operation.operation ? -1 : 1,
      )
      return {
        reading: {
          name: 'Marketplace',
          description: 'Tools that creators published here.',
          version: null,
          skipped: [],
          operations: sorted.map(({ operation }) => operation),
        },
        prices: new Map(sorted.map(({ operation, price }) => [operation.operation, price])),
      }
    },
  }
}

interface Known {
  environment: Environment
  updatedAt: number
  price: Usdc
  operation: Operation
}

const PUBLISHED = {
  status: 'published',
  type: 'tool',
  verified: false,
  featured: false,
  trending: false,
  ownerId: null,
  search: null,
} as const
const PAGE = 100
const LISTED_MAX = 2_000

function toOperation({ slug, name, description }: Summary, inputs: readonly Field[]): Operation {
  return {
    operation: slug,
    name,
    description,
    category: 'marketplace',
    deprecated: false,
    input: toJsonSchema(inputs),
    // A run's output is a text, whatever the creator says is in it.
    output: null,
    upstream: { kind: 'rda', rdaSlug: slug },
  }
}
