import { leastId, type Prefix } from './ids.ts'
import type { Statements } from './transaction.ts'

/** A list that only grows, and whose rows keep the values that they are listed by. */
export interface GrowingList {
  /** The table and all its conditions: `run WHERE user_id = $1`. */
  readonly from: string
  readonly values: readonly unknown[]
  /** Grows with time. An index has it after the columns of the conditions. */
  readonly key: string
  readonly type: 'text' | 'bigint' | 'timestamptz'
  /** SQL for a key below which no more rows are written. */
  readonly settled: string
}

/**
 * The length of such a list. Counting a hundred thousand index entries takes 60 ms each time. For a long list the
 * number of settled rows is remembered, and the next call counts only later rows. A row that is still written under an
 * old id, for example by a request that is repeated after a crash, is included from the next full count on. A short
 * list is counted each time.
 */
export async function totalOf(statements: Statements, growing: GrowingList): Promise<number> {
  const { from, values, key, type, settled } = growing
  const counts = countsOf(statements)
  const name = JSON.stringify([from, ...values.map(String)])
  const known = counts.get(name)
  const since = known !== undefined && known.until > performance.now() ? known : NOTHING
  const place = `$${String(values.length + 1)}::${type}`
  const above = since.above === null ? '' : ` AND ${key} > ${place}`
  // The border never moves back, even when a clock was set back, because rows would then be counted twice.
  const border = since.above === null ? settled : `greatest(${settled}, ${place})`
  const [row] = await statements.run<{ settled: bigint; more: bigint; above: string | null }>(
    `SELECT count(*) FILTER (WHERE ${key} <= border) AS settled, count(*) AS more, max(border)::text AS above
     FROM (SELECT ${border} AS border) AS until, ${from}${above}`,
    since.above === null ? values : [...values, since.above],
  )
  const total = since.count + Number(row?.more ?? 0n)
  const count = since.count + Number(row?.settled ?? 0n)
  if (count >= LONG && row?.above != null) {
    counts.delete(name)
    const until = since === NOTHING ? performance.now() + WHOLE_AGAIN_MS : since.until
    counts.set(name, { above: row.above, count, until })
    const [oldest] = counts.keys()
    if (counts.size > COUNTS_MAX && oldest !== undefined) counts.delete(oldest)
  }
  return total
}

/** By an id, which begins with its creation time. After a while all rows with smaller ids are written. */
export function byId(
  prefix: Prefix,
  { key = 'id', afterMs = 600_000 } = {},
): Pick<GrowingList, 'key' | 'type' | 'settled'> {
  return { key, type: 'text', settled: `'${leastId(prefix, new Date(Date.now() - afterMs))}'::text` }
}

/** By the time at which a row was written. */
export function byTime(key: string, { afterMs = 600_000 } = {}): Pick<GrowingList, 'key' | 'type' | 'settled'> {
  const border = new Date(Date.now() - afterMs).toISOString()
  return { key, type: 'timestamptz', settled: `'${border}'::timestamptz` }
}

interface Known {
  above: string | null
  count: number
  until: number
}

const NOTHING: Known = { above: null, count: 0, until: 0 }
const LONG = 1_000
const WHOLE_AGAIN_MS = 600_000
const COUNTS_MAX = 5_000

function countsOf(statements: Statements): Map<string, Known> {
  const found = all.get(statements) ?? new Map<string, Known>()
  all.set(statements, found)
  return found
}

const all = new WeakMap<Statements, Map<string, Known>>()
