import type pg from 'pg'
import { generator } from '../../harness/random.ts'

const CHUNK = 100_000
export const OWNERS = 20_000
export const WORDS = 5_000

const CHUNK_OF_ROWS = `
INSERT INTO rda (id, environment, slug, owner_id, type, status, name, description, version, pricing_model,
  pricing_amount, verified, featured, trending, callers, created_at, updated_at, published_at)
SELECT 'rda_' || lpad(i::text, 26, '0'), 'sandbox', 'asset-' || i,
  'usr_' || CASE WHEN random() < 0.05 THEN 0 ELSE floor(random() * ${String(OWNERS)})::integer END,
  (ARRAY['prompt', 'agent', 'tool'])[1 + floor(random() * 3)::integer]::rda_type, 'published', name, description,
  '1.0.0', 'per-run', 20000, random() < 0.1, random() < 0.005, random() < 0.0001,
  CASE WHEN random() < 0.02 THEN floor(random() * 500)::integer ELSE 0 END, now(), now(), now()
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS drawn (name, description, place), LATERAL (SELECT $1 + place AS i) named`

/**
 * Inserts published assets with the real triggers enabled; only the indexes are built afterwards, as is usual for a
 * bulk load. Words are chosen so that a few are in most texts and most are in few; owners so that one has a twentieth
 * of all assets and most have a handful. Returns whether there was anything to do.
 */
export async function fillAssets(client: pg.Client, rows: number, seed: number): Promise<boolean> {
  const { rows: counted } = await client.query<{ there: number }>('SELECT count(*)::int AS there FROM rda')
  const there = counted[0]?.there ?? 0
  if (there >= rows) return false
  const random = generator(seed)
  await client.query(`SET maintenance_work_mem = '512MB'; SET work_mem = '128MB'; SET synchronous_commit = off`)
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'rda'::regclass AND NOT indisprimary`,
  )
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
  await client.query(
    `INSERT INTO rda_creator (user_id, subject, name, verified)
     SELECT 'usr_' || i, 'subject-' || i, 'Creator ' || i, i % 10 = 0 FROM generate_series(0, ${String(OWNERS - 1)}) i
     ON CONFLICT DO NOTHING`,
  )
  await client.query(`SELECT setseed(0.5)`)
  for (let from = there; from < rows; from += CHUNK) {
    const chunk = Math.min(CHUNK, rows - from)
    const texts = (words: number) => Array.from({ length: chunk }, () => sentence(words, random))
    await client.query(CHUNK_OF_ROWS, [from, texts(4), texts(14)])
  }
  await client.query(
    `INSERT INTO rda_stats (rda_id, runs, succeeded) SELECT id, 10, 9 FROM rda ON CONFLICT (rda_id) DO NOTHING`,
  )
  for (const { definition } of indexes) await client.query(definition)
  for (const table of ['rda', 'rda_stats', 'rda_creator', 'rda_total', 'rda_word']) {
    await client.query(`VACUUM ANALYZE ${table}`)
  }
  return true
}

/** A word's rank is the cube of a random number: the first hundred words make up a quarter of all texts. */
function sentence(words: number, random: () => number): string {
  return Array.from({ length: words }, () => word(Math.floor(random() ** 3 * WORDS))).join(' ')
}

/** Two or three syllables; each rank gives a different word. */
export function word(place: number): string {
  let rest = place + 400
  let text = ''
  while (rest > 0) {
    text += SYLLABLES[rest % 18] ?? ''
    rest = Math.floor(rest / 18)
  }
  return `${text}x`
}

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we zo'.split(' ')
