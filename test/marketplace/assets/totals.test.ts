import fc from 'fast-check'
import { newId, type Id } from '../../../service/kit/ids.ts'
import { usdc, ZERO } from '../../../service/kit/money.ts'
import type { Asset, AssetStatus } from '../../../service/marketplace/model/asset.ts'
import type { AssetStore } from '../../../service/marketplace/ports/asset.ts'
import { createAssetStore } from '../../../service/marketplace/store/assets/assets.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'

/* Triggers maintain totals and words: after any history they must equal a fresh count. */

const TEXTS = ['', 'alpha beta', 'beta beta gamma', 'Alphas and gammas', "O'Brien's delta"] as const
const STATUSES: readonly AssetStatus[] = ['draft', 'published', 'archived']

type Step =
  | { act: 'add'; type: number; text: number; owner: number }
  | { act: 'edit'; asset: number; text: number }
  | { act: 'move'; asset: number; status: number }
  | { act: 'mark'; asset: number; mark: 'verified' | 'featured'; value: boolean }
  | { act: 'remove'; asset: number }

const small = fc.nat({ max: 7 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant('add' as const), type: small, text: small, owner: small }),
  fc.record({ act: fc.constant('edit' as const), asset: small, text: small }),
  fc.record({ act: fc.constant('move' as const), asset: small, status: small }),
  fc.record({
    act: fc.constant('mark' as const),
    asset: small,
    mark: fc.constantFrom('verified' as const, 'featured' as const),
    value: fc.boolean(),
  }),
  fc.record({ act: fc.constant('remove' as const), asset: small }),
)

describe('totals', () => {
  let database: TestDatabase
  let store: AssetStore

  beforeAll(async () => {
    database = await testDatabase({ poolMax: 10 })
    store = createAssetStore(database.statements)
  })
  afterAll(async () => {
    await database.close()
  })

  test("equal the rows' counts after any history", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const assets: Asset[] = []
        for (const one of steps) await perform(one, assets)
        await expectSound()
      }),
      { numRuns: 25 },
    )
  })

  test('agree after eight accounts act concurrently', async () => {
    const histories = fc.sample(fc.array(step, { minLength: 20, maxLength: 20 }), { numRuns: 8 })
    await Promise.all(
      histories.map(async (steps) => {
        const assets: Asset[] = []
        for (const one of steps) await perform(one, assets)
      }),
    )
    await expectSound()
  })

  async function perform(one: Step, assets: Asset[]): Promise<void> {
    if (one.act === 'add') {
      const asset = assetOf(one.type, one.text, one.owner)
      assets.push(asset)
      await store.add(asset)
      await store.setStatus(asset.id, 'draft', 'published', new Date())
      return
    }
    const place = assets.length === 0 ? -1 : one.asset % assets.length
    const asset = assets[place]
    if (asset === undefined) return
    switch (one.act) {
      case 'edit': {
        const next = { ...asset, description: textOf(one.text), version: `${asset.version}.1` }
        if (await store.save(next, asset.version)) assets[place] = next
        break
      }
      case 'move': {
        const to = STATUSES[one.status % STATUSES.length] ?? 'draft'
        for (const from of STATUSES) if (from !== to) await store.setStatus(asset.id, from, to, new Date())
        break
      }
      case 'mark':
        await store.mark('sandbox', asset.id, one.mark, one.value)
        break
      case 'remove':
        assets.splice(place, 1)
        await database.statements.run(
          `WITH a AS (DELETE FROM rda_version WHERE rda_id = $1), b AS (DELETE FROM rda_stats WHERE rda_id = $1)
           DELETE FROM rda WHERE id = $1`,
          [asset.id],
        )
        break
    }
  }

  async function expectSound(): Promise<void> {
    for (const statement of [TOTALS, WORDS]) {
      expect(await database.statements.run(statement, [])).toEqual([])
    }
  }
})

function assetOf(type: number, text: number, owner: number): Asset {
  const id: Id<'rda'> = newId('rda', new Date())
  const none = { names: [], token: null }
  const pricing = { model: 'per-run' as const, amount: usdc(1n) }
  return {
    ...{
      id,
      environment: 'sandbox',
      slug: id.replace('_', '-'),
      type: (['prompt', 'agent', 'tool'] as const)[type % 3] ?? 'prompt',
    },
    ...{ status: 'draft', name: 'Asset', description: textOf(text), longDescription: null, tags: [], coverImage: null },
    ...{
      codeSnippet: null,
      codeLanguage: null,
      version: '1.0.0',
      verified: false,
      featured: false,
      trending: false,
      pricing,
    },
    content: {
      inputs: [],
      outputs: { type: 'text' },
      pricing,
      config: {
        ...{
          type: 'agent',
          webhookUrl: 'https://a.example',
          webhookMethod: 'POST',
          webhookHeaders: none,
          timeoutSeconds: 1,
        },
        ...{ maxRetries: 0, pollUrl: null, pollIntervalMs: 100, basePrice: null },
      },
    },
    stats: { totalRuns: 0, totalRevenue: ZERO, averageRating: 0, totalRatings: 0, successRate: 0, averageLatency: 0 },
    owner: { userId: `usr_${String(owner)}`, subject: `subject-${String(owner)}`, name: null, verified: false },
    ...{ createdAt: new Date(), updatedAt: new Date(), publishedAt: null, publishedVersion: null },
  }
}

function textOf(place: number): string {
  return TEXTS[place % TEXTS.length] ?? ''
}

const KINDS = 'environment, status, type, verified, featured, trending'
const TOTALS = `
SELECT * FROM (
  SELECT '' AS owner_id, ${KINDS}, count(*) AS total FROM rda GROUP BY ${KINDS}
  UNION ALL SELECT owner_id, ${KINDS}, count(*) FROM rda GROUP BY owner_id, ${KINDS}
) there FULL JOIN (SELECT * FROM rda_total WHERE total <> 0) kept USING (owner_id, ${KINDS}, total)
WHERE there IS NULL OR kept IS NULL`

const MARKS = 'environment, type, verified, featured, trending'
const WORDS = `
SELECT * FROM (
  SELECT word COLLATE "C" AS word, ${MARKS}, count(*) AS total FROM rda, unnest(tsvector_to_array(search)) word
  WHERE status = 'published' GROUP BY 1, ${MARKS}
) there FULL JOIN (SELECT * FROM rda_word WHERE total <> 0) kept USING (word, ${MARKS}, total)
WHERE there IS NULL OR kept IS NULL`
