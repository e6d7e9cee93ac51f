import { Batch } from '../../../kit/batch.ts'
import { isId } from '../../../kit/ids.ts'
import type { StatementPool } from '../../../kit/transaction.ts'
import type { Asset, Review } from '../../model/asset.ts'
import type { AssetStore, FoundAsset } from '../../ports/asset.ts'
import { createListing } from './list.ts'
import { RANK, RECENT_COSTS } from './rank.ts'
import { fromContent, TABLES, toContent, toFound, WHOLE, type WholeRow } from './rows.ts'

/** Assets in PostgreSQL. Their totals, words and ranks follow by trigger: see the migration. */
export function createAssetStore(statements: StatementPool): AssetStore {
  // Each run looks for its asset.
  const slugs = new Batch<Named, FoundAsset | null>({ largest: 256, run: (asked) => findBySlugs(statements, asked) })

  return {
    async add(asset) {
      const [added] = await statements.run(ADD, toRow(asset), 'rda_add')
      if (added !== undefined) return 'added'
      // The id or the slug was there: only under its own id it is the same asset.
      const [same] = await statements.run('SELECT 1 FROM rda WHERE id = $1', [asset.id])
      return same === undefined ? 'slug-taken' : 'added'
    },

    async slugTaken(environment, slug) {
      return (await statements.run(HAS_SLUG, [environment, slug], 'rda_has_slug')).length > 0
    },

    async slugsNear(environment, slug) {
      const values = [environment, slug, slug.slice(0, 2)]
      const rows = await statements.run<{ slug: string }>(SLUGS_NEAR, values, 'rda_slugs_near')
      return rows.map((row) => row.slug)
    },

    async find(environment, identifier) {
      if (!isId('rda', identifier)) return await slugs.add({ environment, slug: identifier })
      const [row] = await statements.run<WholeRow>(FIND_BY_ID, [environment, identifier], 'rda_find_id')
      return row === undefined ? null : toFound(row)
    },

    async listOffered({ userId, environment }, limit) {
      return await statements.run(LIST_OFFERED, [userId, environment, limit], 'rda_list_offered')
    },

    async findOffered({ userId, environment }, ids) {
      const rows = await statements.run<WholeRow>(FIND_OFFERED, [userId, environment, ids], 'rda_find_offered')
      return rows.map(toFound)
    },

    async findVersion(id, version) {
      const [row] = await statements.run<WholeRow>(FIND_VERSION, [id, version], 'rda_find_version')
      if (row === undefined) return null
      const { environment, slug, name, type, status, userId: ownerId, content } = row
      return { id, environment, slug, name, type, status, version, ownerId, content: toContent(content) }
    },

    async save(asset, from) {
      return (await statements.run(SAVE, [...toRow(asset), from], 'rda_save')).length === 1
    },

    async setStatus(id, from, to, now) {
      return (await statements.run(SET_STATUS, [id, from, to, now], 'rda_set_status')).length === 1
    },

    list: createListing(statements),
    ...publishedIn(statements),

    async hasRun(id, userId, successfully) {
      const [text, name] = successfully ? [HAS_SUCCEEDED, 'rda_has_succeeded'] : [HAS_RUN, 'rda_has_run']
      return (await statements.run(text, [id, userId], name)).length > 0
    },

    async hasPaid(id, userId) {
      return (await statements.run(HAS_PAID, [id, userId], 'rda_has_paid')).length > 0
    },

    async countReviews(userId, since) {
      const [row] = await statements.run<{ total: bigint }>(COUNT_REVIEWS, [userId, since], 'rda_count_reviews')
      return Number(row?.total ?? 0n)
    },

    async reviews(id, { limit, before }) {
      return await statements.run<Review>(REVIEWS, [id, limit, before], 'rda_reviews')
    },

    async reply({ rdaId, review, text, at }) {
      if ((await statements.run(REPLY, [rdaId, review, text, at], 'rda_reply')).length === 1) return 'replied'
      return (await statements.run(HAS_REVIEW, [rdaId, review])).length === 1 ? 'answered' : 'missing'
    },

    async hideReview(review, at) {
      return (await statements.run(HIDE_REVIEW, [review, at])).length === 1
    },

    async rate({ rdaId, userId, score, text, madeBy, at }) {
      const [made] = await statements.run(RATE, [rdaId, userId, score, madeBy, at, text], 'rda_rate')
      if (made !== undefined) return null
      const [before] = await statements.run<{ score: number; madeBy: string }>(FIND_RATING, [rdaId, userId])
      if (before === undefined) throw new Error('a rating was neither made nor there')
      return before.madeBy === madeBy ? null : before.score
    },

    async hasBought(id, userId) {
      return (await statements.run(HAS_BOUGHT, [id, userId], 'rda_has_bought')).length > 0
    },

    sell: ({ rdaId, userId, price, at }, pay) =>
      statements.together(async (inside) => {
        // A simultaneous purchase waits here for the first one's commit, and then finds it.
        const [sold] = await inside.run(SELL, [rdaId, userId, price, at], 'rda_sell')
        if (sold === undefined) return false
        await pay(inside)
        return true
      }),

    async mark(environment, identifier, mark, value) {
      const marked = await statements.run(MARK[mark], [environment, identifier, value])
      return marked.length === 1
    },

    async markCreator(subject, verified) {
      return (await statements.run(MARK_CREATOR, [subject, verified])).length
    },

    async rank(since, { callersMin, trendingMax }) {
      await statements.run(RANK, [since, callersMin, trendingMax])
      await statements.run(RECENT_COSTS, [since])
    },
  }
}

/** Assets as others than their owner read them, also when they are not published any more. */
function publishedIn(statements: StatementPool): Pick<AssetStore, 'findPublished' | 'listBought'> {
  return {
    async findPublished(environment, id) {
      const [row] = await statements.run<WholeRow>(FIND_PUBLISHED, [environment, id], 'rda_find_published')
      return row === undefined ? null : toFound(row)
    },

    async listBought({ userId, environment }, { limit, offset }) {
      const of = [userId, environment]
      const [rows, [count]] = await Promise.all([
        statements.run<WholeRow>(LIST_BOUGHT, [...of, limit, offset], 'rda_list_bought'),
        statements.run<{ total: bigint }>(COUNT_BOUGHT, of, 'rda_count_bought'),
      ])
      return { assets: rows.map((row) => toFound(row).asset), total: Number(count?.total ?? 0n) }
    },
  }
}

function toRow(asset: Asset): unknown[] {
  const { id, environment, slug, type, name, description, coverImage, version, pricing, owner } = asset
  const row = [id, environment, slug, type, name, description, coverImage, version, pricing.model, pricing.amount]
  const creator = [asset.createdAt, asset.updatedAt, owner.userId, owner.subject, owner.name]
  const texts = [asset.longDescription, asset.tags, asset.codeSnippet, asset.codeLanguage, fromContent(asset.content)]
  return [...row, ...creator, ...texts]
}

const VERSION = `
INSERT INTO rda_version (rda_id, version, long_description, tags, code_snippet, code_language, content, created_at)
SELECT id, $8, $16::text, $17::text[], $18::text, $19::text, $20::jsonb, $12::timestamptz FROM asset`

const CREATOR = `
INSERT INTO rda_creator AS c (user_id, subject, name) VALUES ($13, $14, $15)
ON CONFLICT (user_id) DO UPDATE SET subject = excluded.subject, name = excluded.name
WHERE (c.subject, c.name) IS DISTINCT FROM (excluded.subject, excluded.name)`

const ADD = `
WITH creator AS (${CREATOR}),
asset AS (
  INSERT INTO rda (id, environment, slug, type, name, description, cover_image, version, pricing_model, pricing_amount,
    created_at, updated_at, owner_id)
  VALUES ($1, $2::environment, $3, $4::rda_type, $5, $6, $7, $8::text, $9::rda_pricing_model, $10, $11::timestamptz,
    $12::timestamptz, $13)
  ON CONFLICT DO NOTHING RETURNING id
),
version AS (${VERSION}),
stats AS (INSERT INTO rda_stats (rda_id) SELECT id FROM asset)
SELECT 1 FROM asset`

// Its environment, slug, type and first day stay what they were. What runs cost at another price is forgotten.
const SAVE = `
WITH creator AS (${CREATOR}),
asset AS (
  UPDATE rda SET name = $5, description = $6, cover_image = $7, version = $8::text, pricing_model = $9::rda_pricing_model,
    pricing_amount = $10, updated_at = $12::timestamptz
  WHERE id = $1 AND environment = $2::environment AND slug = $3 AND type = $4::rda_type AND created_at = $11::timestamptz
    AND version = $21
  RETURNING id
),
version AS (${VERSION}),
costs AS (
  UPDATE rda_stats s SET cost_least = NULL, cost_most = NULL FROM asset JOIN rda_version v ON v.rda_id = asset.id
  WHERE s.rda_id = asset.id AND v.version = $21 AND v.content -> 'pricing' <> $20::jsonb -> 'pricing'
)
SELECT 1 FROM asset`

async function findBySlugs(statements: StatementPool, asked: readonly Named[]): Promise<(FoundAsset | null)[]> {
  const each = [...new Map(asked.map((one) => [nameOf(one), one])).values()]
  const values = [each.map(({ environment }) => environment), each.map(({ slug }) => slug)]
  const rows = await statements.run<WholeRow>(FIND_BY_SLUGS, values, 'rda_find_slugs')
  const found = new Map(rows.map((row) => [nameOf(row), row]))
  return asked.map((one) => {
    const row = found.get(nameOf(one))
    return row === undefined ? null : toFound(row)
  })
}

type Named = Pick<Asset, 'environment' | 'slug'>

function nameOf({ environment, slug }: Named): string {
  return `${environment} ${slug}`
}

const FROM_WHOLE = `FROM ${TABLES} JOIN rda_version v ON v.rda_id = r.id`
const FIND_BY_ID = `SELECT ${WHOLE} ${FROM_WHOLE} AND v.version = r.version WHERE r.environment = $1 AND r.id = $2`
// OFFSET 0 keeps each look-up a probe of the index, also in the plan of a young database.
const FIND_BY_SLUGS = `
SELECT found.* FROM unnest($1::environment[], $2::text[]) AS ask(environment, slug), LATERAL (
  SELECT ${WHOLE} ${FROM_WHOLE} AND v.version = r.version WHERE r.environment = ask.environment AND r.slug = ask.slug OFFSET 0
) found`
const IS_OFFERED = "r.owner_id = $1 AND r.environment = $2 AND r.status = 'published'"
const LIST_OFFERED = `SELECT r.id, r.name, r.slug FROM rda r WHERE ${IS_OFFERED} ORDER BY r.id LIMIT $3`
const FIND_OFFERED = `SELECT ${WHOLE} ${FROM_WHOLE} AND v.version = r.version WHERE ${IS_OFFERED} AND r.id = ANY ($3)`
const FIND_PUBLISHED = `SELECT ${WHOLE} ${FROM_WHOLE} AND v.version = r.published_version WHERE r.environment = $1 AND r.id = $2`
const IS_BOUGHT = 'b.user_id = $1 AND r.environment = $2 AND r.published_version IS NOT NULL'
const LIST_BOUGHT = `
SELECT ${WHOLE} ${FROM_WHOLE} AND v.version = r.published_version JOIN rda_source_sale b ON b.rda_id = r.id
WHERE ${IS_BOUGHT} ORDER BY b.sold_at DESC, b.rda_id DESC LIMIT $3 OFFSET $4`
const COUNT_BOUGHT = `SELECT count(*) AS total FROM rda_source_sale b JOIN rda r ON r.id = b.rda_id WHERE ${IS_BOUGHT}`
const FIND_VERSION = `SELECT ${WHOLE} ${FROM_WHOLE} AND v.version = $2 WHERE r.id = $1`
const HAS_SLUG = 'SELECT 1 FROM rda WHERE environment = $1 AND slug = $2'

const SET_STATUS = `
UPDATE rda SET status = $3::rda_status, updated_at = $4::timestamptz,
  published_at = CASE WHEN $3::rda_status = 'published' THEN $4::timestamptz ELSE published_at END
WHERE id = $1 AND status = $2::rda_status RETURNING 1`

const HAS_RUN = 'SELECT 1 FROM run WHERE rda_id = $1 AND user_id = $2 LIMIT 1'
const HAS_SUCCEEDED = `SELECT 1 FROM run WHERE rda_id = $1 AND user_id = $2 AND status = 'succeeded' LIMIT 1`

const HAS_PAID = `SELECT 1 FROM run WHERE rda_id = $1 AND user_id = $2 AND status = 'succeeded' AND cost > 0 LIMIT 1`

const COUNT_REVIEWS =
  'SELECT count(*) AS total FROM rda_rating WHERE user_id = $1 AND created_at >= $2 AND text IS NOT NULL'
const IS_SHOWN = 'text IS NOT NULL AND hidden_at IS NULL'
const REVIEWS = `
SELECT made_by AS id, score, text, created_at AS "createdAt", reply, replied_at AS "repliedAt" FROM rda_rating
WHERE rda_id = $1 AND ${IS_SHOWN} AND ($3::text IS NULL OR made_by < $3) ORDER BY made_by DESC LIMIT $2`
const HAS_REVIEW = `SELECT 1 FROM rda_rating WHERE rda_id = $1 AND made_by = $2 AND ${IS_SHOWN}`
const REPLY = `
UPDATE rda_rating SET reply = $3, replied_at = $4
WHERE rda_id = $1 AND made_by = $2 AND ${IS_SHOWN} AND reply IS NULL RETURNING 1`
const HIDE_REVIEW = `
UPDATE rda_rating SET hidden_at = coalesce(hidden_at, $2) WHERE made_by = $1 AND text IS NOT NULL RETURNING 1`

const RATE = `
WITH rated AS (
  INSERT INTO rda_rating (rda_id, user_id, score, made_by, created_at, text) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT DO NOTHING RETURNING rda_id, score
)
UPDATE rda_stats s SET ratings = s.ratings + 1, rating_sum = s.rating_sum + rated.score
FROM rated WHERE s.rda_id = rated.rda_id RETURNING 1`

const FIND_RATING = 'SELECT score, made_by AS "madeBy" FROM rda_rating WHERE rda_id = $1 AND user_id = $2'
const HAS_BOUGHT = 'SELECT 1 FROM rda_source_sale WHERE rda_id = $1 AND user_id = $2'
// The sale is revenue of its asset: it waits for the figures where the runs' own do.
const SELL = `
WITH sold AS (
  INSERT INTO rda_source_sale (rda_id, user_id, price, sold_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
  RETURNING rda_id, price
), left_behind AS (
  INSERT INTO run_delta (rda_id, runs, succeeded, revenue, latency_ms) SELECT rda_id, 0, 0, price, 0 FROM sold
)
SELECT 1 FROM sold`

// Three short walks along the index of slugs, however many assets there are.
const SLUGS_NEAR = `
SELECT DISTINCT slug FROM (
  (SELECT slug, status FROM rda WHERE environment = $1::environment AND slug >= $2 ORDER BY slug LIMIT 50)
  UNION ALL
  (SELECT slug, status FROM rda WHERE environment = $1::environment AND slug < $2 ORDER BY slug DESC LIMIT 50)
  UNION ALL
  (SELECT slug, status FROM rda WHERE environment = $1::environment AND slug >= $3 ORDER BY slug LIMIT 100)
) near WHERE status = 'published'`

const MARK = {
  verified: 'UPDATE rda SET verified = $3 WHERE environment = $1 AND (id = $2 OR slug = $2) RETURNING 1',
  featured: 'UPDATE rda SET featured = $3 WHERE environment = $1 AND (id = $2 OR slug = $2) RETURNING 1',
}
const MARK_CREATOR = 'UPDATE rda_creator SET verified = $2 WHERE subject = $1 RETURNING 1'
