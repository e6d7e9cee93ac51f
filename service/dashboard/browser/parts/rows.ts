/**
 * The rows of a list that there are at the beginning, page by page, newest first. What arrives meanwhile moves them down, and what is
 * removed moves them up: each page begins with the last row of the page before, which shows that no row was skipped.
 */
export async function allRows<Row>(
  load: (offset: number) => Promise<readonly [rows: readonly Row[], total: number]>,
  keyOf: (row: Row) => string,
): Promise<{ rows: readonly Row[]; isWhole: boolean }> {
  const [first, total] = await load(0)
  // Under its key, because a row may have changed since it was read.
  const all = new Map(first.map((row) => [keyOf(row), row]))
  let [offset, length] = [first.length, total]
  while (offset < length && offset > 0) {
    const at = offset - 1
    const [rows, now] = await load(at)
    const known = rows.findIndex((row) => all.has(keyOf(row)))
    if (known === -1 && now <= length) {
      if (at === 0) return { rows: [...all.values()], isWhole: false }
      offset = Math.max(1, offset - STEP)
      continue
    }
    // Rows before the first known one have arrived meanwhile; with many of them, the known ones are further down.
    for (const row of known === -1 ? [] : rows.slice(known)) if (!all.has(keyOf(row))) all.set(keyOf(row), row)
    if (rows.length < 2) break
    offset = at + rows.length
    length = now
  }
  return { rows: [...all.values()], isWhole: true }
}

const STEP = 50
