import { toJsonSchema, type Field } from '../../../kit/fields.ts'
import type { Usdc } from '../../../kit/money.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Operation, Reading } from '../../model/draft.ts'
import type { PublishedAsset, PublishedAssets } from '../../ports/sources.ts'

/** Creators' tools as the catalogue lists them: only the most used, because every process has all of them in memory. */
export function createPublishedTools(assets: PublishedAssets) {
  /** An asset that was not edited since the last read is not read again. */
  let known = new Map<string, Known>()

  async function read(environment: Environment, asset: PublishedAsset): Promise<Known> {
    const before = known.get(asset.id)
    const updatedAt = asset.updatedAt.getTime()
    if (before?.updatedAt === updatedAt) return before
    const { inputs, price } = await assets.details(environment, asset.id)
    return { environment, updatedAt, price, operation: toOperation(asset, inputs) }
  }

  return {
    async read(environment: Environment): Promise<{ reading: Reading; prices: ReadonlyMap<string, Usdc> }> {
      const published: PublishedAsset[] = []
      for (let offset = 0; offset < LISTED_MAX; offset += PAGE) {
        const page = await assets.page(environment, PAGE, offset)
        published.push(...page)
        if (page.length < PAGE) break
      }
      const others = [...known].filter(([, one]) => one.environment !== environment)
      const all = new Map<string, Known>()
      for (const asset of published) all.set(asset.id, await read(environment, asset))
      known = new Map([...others, ...all])
      const sorted = [...all.values()].sort((one, other) =>
        one.operation.operation < other.operation.operation ? -1 : 1,
      )
      const operations = sorted.map(({ operation }) => operation)
      return {
        reading: { ...MARKETPLACE, version: null, skipped: [], operations },
        prices: new Map(sorted.map(({ operation, price }) => [operation.operation, price])),
      }
    },
  }
}

export type PublishedTools = ReturnType<typeof createPublishedTools>

interface Known {
  environment: Environment
  updatedAt: number
  price: Usdc
  operation: Operation
}

const PAGE = 100
const LISTED_MAX = 2_000
const MARKETPLACE = { name: 'Marketplace', description: 'Tools that creators published on this server.' }

function toOperation({ slug, name, description }: PublishedAsset, inputs: readonly Field[]): Operation {
  return {
    operation: slug,
    name,
    description,
    category: 'marketplace',
    deprecated: false,
    input: toJsonSchema(inputs),
    // A run's output is always text, even if its creator declares a schema.
    output: null,
    upstream: { kind: 'rda', rdaSlug: slug },
  }
}
