import fc from 'fast-check'
import { allRows } from '../../service/dashboard/browser/parts/rows.ts'

const PAGE = 5

/** A list of the service, newest first. After each page that is read, these rows arrive, are removed or change. */
function listOf(count: number, meanwhile: readonly Change[]) {
  const start = Array.from({ length: count }, (_, place) => ({ id: count - place, state: 0 }))
  const removed = new Set<number>()
  let rows = start
  let next = count + 1
  let reads = 0
  const load = async (offset: number) => {
    const answer = [rows.slice(offset, offset + PAGE), rows.length] as const
    const { arrive, remove, change } = meanwhile[reads++] ?? { arrive: 0, remove: [], change: 0 }
    for (const place of remove) if (rows[place] !== undefined) removed.add(rows[place].id)
    rows = rows.filter(({ id }) => !removed.has(id)).map((row) => (row.id % 3 === change ? { ...row, state: 1 } : row))
    for (let many = 0; many < arrive; many++) rows = [{ id: next++, state: 0 }, ...rows]
    return answer
  }
  return { load, start, removed }
}

interface Change {
  arrive: number
  remove: number[]
  change: number
}

const meanwhile = fc.array(
  fc.record({
    arrive: fc.integer({ min: 0, max: 12 }),
    remove: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 3 }),
    change: fc.integer({ min: 0, max: 2 }),
  }),
  { maxLength: 12 },
)

test('reads each row of the beginning once and in order, whatever happens to the list meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 40 }), meanwhile, async (count, changes) => {
      const { load, start, removed } = listOf(count, changes)
      const { rows, isWhole } = await allRows(load, ({ id }) => String(id))
      const ids = rows.map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))
      expect(ids.filter((id) => id > count)).toEqual([])
      if (isWhole) expect(start.filter(({ id }) => !removed.has(id) && !ids.includes(id))).toEqual([])
    }),
  )
})

test('has both rows that share an id, where their key tells them apart', async () => {
  const lines = Array.from({ length: 12 }, (_, place) => ({ id: `tr_${String(Math.floor(place / 2))}`, after: place }))
  const load = async (offset: number) => [lines.slice(offset, offset + PAGE), lines.length] as const
  expect(await allRows(load, ({ id, after }) => `${id} ${String(after)}`)).toEqual({ rows: lines, isWhole: true })
})
