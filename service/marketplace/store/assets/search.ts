import type { Statements } from '../../../kit/transaction.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Listing } from '../../model/asset.ts'
import { conditionsOf, filterOf, type Found, type Scope } from './conditions.ts'

/**
 * Words at a million rows. Three ways lead to a page: along the order of the list until enough rows have the words
 * (quick for words that are everywhere), from the words' index over those that stand out (for words of thousands), and
 * from their index over all (for rare ones; the only one that is sure). A row costs about the same on each, since
 * it is a page of the table that is read for it. How often each word occurs is kept by trigger, so the shortest way is
 * known before: alone, each of them takes 30 ms to a second and a half for some words. A walk gives up where
 * it turns out longer than expected, for words need not be spread evenly. A narrow copy of the table was tried for the
 * index: the words themselves, which PostgreSQL keeps in the row, made it more than half as large.
 */
export function createSearch(statements: Statements) {
  const counts = forAMinute()
  const shares = forAMinute()

  return async function search(scope: Scope, text: string, now: Date): Promise<Found> {
    if (scope.listing.status !== 'published' || scope.owners !== null) return await among(scope, text)
    const words = await wordsOf(statements, scope, text)
    if (words.length === 0 || words.some(({ total }) => total === 0)) return { ids: [], total: 0 }
    const query = words.map(({ word }) => `'${word.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`).join(' & ')
    const [only] = words
    // One word's total is kept; of several it has to be counted.
    const exact = words.length === 1 ? (only?.total ?? 0) : null
    const { offset } = scope.listing
    if (exact !== null && offset >= exact) return { ids: [], total: exact }
    const [ids, total] = await Promise.all([
      page(scope, query, words, now),
      exact ?? counts.get(keyOf(scope, words), now, () => count(scope, query)),
    ])
    // A kept total may be a minute old; what is on the page is there for certain.
    return { ids, total: ids.length === 0 ? total : Math.max(total, offset + ids.length) }
  }

  /** Words are counted of what is published, of all creators together. One's own, or one creator's, are looked through. */
  async function among(scope: Scope, text: string): Promise<Found> {
    const { where, values } = conditionsOf(scope)
    const { limit, offset } = scope.listing
    const rows = await statements.run<{ id: string | null; total: string }>(
      `WITH found AS (
         SELECT r.id, r.rank FROM rda r WHERE ${where} AND r.search @@ plainto_tsquery('coinslot', $${String(values.length + 1)})
       )
       SELECT page.id, counted.total::text AS total FROM (SELECT count(*) AS total FROM found) counted
       LEFT JOIN (
         SELECT id, rank FROM found ORDER BY rank DESC, id DESC LIMIT ${String(limit)} OFFSET ${String(offset)}
       ) page ON true ORDER BY page.rank DESC, page.id DESC`,
      [...values, text],
    )
    return { ids: rows.flatMap(({ id }) => id ?? []), total: Number(rows[0]?.total ?? 0) }
  }

  async function page(scope: Scope, query: string, words: readonly Word[], now: Date): Promise<string[]> {
    const { limit, offset, environment } = scope.listing
    const wanted = offset + limit
    const [everything, share] = await Promise.all([
      countAll(scope.listing),
      shares.get(environment, now, () => shareOfTop(scope.listing)),
    ])
    // As if words came together by chance.
    const expected = words.reduce((rows, { total }) => rows * (total / everything), everything)
    const steps = (wanted * everything) / Math.max(expected, 1)
    const inTop = expected * share
    const fromTop = inTop >= wanted
    if (steps < (fromTop ? inTop : expected)) {
      const ids = await ask(scope, walk(Math.ceil(3 * steps) + 500), query)
      if (ids.length === limit) return ids
    }
    if (fromTop) {
      const ids = await ask(scope, LOOK_UP_TOP, query)
      if (ids.length === limit) return ids
    }
    return await ask(scope, LOOK_UP, query)
  }

  /** How much of the list stands out; a guess from a hundredth of it is good enough to choose a way by. */
  async function shareOfTop({ environment }: Listing): Promise<number> {
    const [row] = await statements.run<{ share: number | null }>(
      `SELECT (count(*) FILTER (WHERE rank > 0))::float8 / nullif(count(*), 0) AS share
       FROM rda TABLESAMPLE SYSTEM (1) WHERE environment = $1 AND status = 'published'`,
      [environment],
    )
    return row?.share ?? 0
  }

  async function ask(scope: Scope, way: Way, query: string): Promise<string[]> {
    const { limit, offset, environment } = scope.listing
    const { filter, values } = filterOf(scope.listing, [query])
    const text = `${way(environment, filter)} LIMIT ${String(limit)} OFFSET ${String(offset)}`
    const rows = await statements.run<{ id: string }>(text, values)
    return rows.map(({ id }) => id)
  }

  async function countAll(listing: Listing): Promise<number> {
    const { filter, values } = filterOf(listing, [listing.environment])
    const [row] = await statements.run<{ total: string }>(
      `SELECT coalesce(sum(total), 0)::text AS total FROM rda_total
       WHERE environment = $1 AND status = 'published' AND owner_id = ''${filter}`,
      values,
    )
    return Number(row?.total ?? 0)
  }

  async function count({ listing }: Scope, query: string): Promise<number> {
    const { filter, values } = filterOf(listing, [query])
    const [row] = await statements.run<{ total: string }>(
      `SELECT count(*)::text AS total FROM rda WHERE ${published(listing.environment, filter)} AND search @@ $1::tsquery`,
      values,
    )
    return Number(row?.total ?? 0)
  }
}

/**
 * The words as the index has them. One that nothing has is taken for the beginning of the commonest one like it, else for a
 * part of one: only then all words are looked at.
 */
async function wordsOf(statements: Statements, { listing }: Scope, text: string): Promise<Word[]> {
  const { filter, values } = filterOf(listing, [listing.environment, text])
  const rows = await statements.run<{ word: string; total: string; completed: string | null }>(
    `SELECT asked.word, coalesce(known.total, 0)::text AS total,
       coalesce(completion.word, part.word) AS completed
     FROM (SELECT word COLLATE "C" AS word, count(*) OVER () AS words FROM unnest(tsvector_to_array(to_tsvector('coinslot', $2))) word) asked
     CROSS JOIN LATERAL (
       SELECT sum(total) AS total FROM rda_word WHERE environment = $1 AND word = asked.word${filter}
     ) known
     LEFT JOIN LATERAL (
       SELECT word FROM rda_word
       WHERE coalesce(known.total, 0) = 0 AND environment = $1 AND word > asked.word AND word < asked.word || U&'\\+10FFFF'${filter}
       GROUP BY word HAVING sum(total) > 0 ORDER BY sum(total) DESC, word LIMIT 1
     ) completion ON true
     LEFT JOIN LATERAL (
       SELECT word FROM rda_word
       WHERE coalesce(known.total, 0) = 0 AND completion.word IS NULL AND length(asked.word) >= ${String(PART_MIN)}
         AND asked.words <= ${String(PARTS_MAX)}
         AND environment = $1 AND strpos(word, asked.word) > 0${filter}
       GROUP BY word HAVING sum(total) > 0 ORDER BY sum(total) DESC, word LIMIT 1
     ) part ON true`,
    values,
  )
  const completed = rows.flatMap(({ completed: word }) => (word === null ? [] : [word]))
  if (completed.length === 0) return rows.map(({ word, total }) => ({ word, total: Number(total) }))
  const found = await statements.run<{ word: string; total: string }>(
    `SELECT word, sum(total)::text AS total FROM rda_word WHERE environment = $1 AND word = ANY ($2)${filter} GROUP BY word`,
    [values[0], rows.map(({ word, completed: other }) => other ?? word), ...values.slice(2)],
  )
  const totals = new Map(found.map(({ word, total }) => [word, Number(total)]))
  const words = new Set(rows.map(({ word, completed: other }) => other ?? word))
  return [...words].map((word) => ({ word, total: totals.get(word) ?? 0 }))
}

/** A shorter text is in too many words. */
const PART_MIN = 3
/** Each part looks through all words, so a long text is not searched by parts. */
const PARTS_MAX = 2

interface Word {
  word: string
  /** How many there are that have it, among those that pass the filters. */
  total: number
}

type Way = (environment: Environment, filter: string) => string

/** Along the list, so many rows. The test is inside of another one, so that no plan starts from the words. */
function walk(longest: number): Way {
  return (environment, filter) => `
SELECT id FROM (
  SELECT id, rank, search FROM rda WHERE ${published(environment, filter)} ORDER BY rank DESC, id DESC LIMIT ${String(longest)}
) listed WHERE (search @@ $1::tsquery) IS TRUE ORDER BY rank DESC, id DESC`
}

/** From the words. The order is a sum, so that no plan starts from the list. */
const LOOK_UP: Way = (environment, filter) => `
SELECT id FROM rda WHERE ${published(environment, filter)} AND search @@ $1::tsquery ORDER BY rank + 0 DESC, id DESC`

/** From the words of ranked assets only: all others come after them. */
const LOOK_UP_TOP: Way = (environment, filter) => LOOK_UP(environment, `${filter} AND rank > 0`)

/** As literals, by which partial indexes are recognised. */
function published(environment: Environment, filter: string): string {
  return `environment = '${environment}' AND status = 'published'${filter}`
}

function keyOf({ listing }: Scope, words: readonly Word[]): string {
  const { environment, type, verified, featured, trending } = listing
  const names = words.map(({ word }) => word).sort()
  return JSON.stringify([environment, type, verified, featured, trending, names])
}

/** Keeps expensive counts; a second request while one is being counted waits for the same count. */
function forAMinute() {
  const kept = new Map<string, { number: Promise<number>; until: number }>()
  return {
    async get(key: string, now: Date, count: () => Promise<number>): Promise<number> {
      const known = kept.get(key)
      if (known !== undefined && known.until > now.getTime()) return await known.number
      const number = count()
      kept.delete(key)
      kept.set(key, { number, until: now.getTime() + 60_000 })
      const [oldest] = kept.keys()
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
      number.catch(() => kept.delete(key))
      return await number
    },
  }
}

const KEPT_MAX = 5_000
