import { END } from '../../service/ledger/store/end.ts'
import { RESERVE } from '../../service/ledger/store/reserve.ts'
import { testDatabase } from '../harness/database.ts'

/*
 * A connection keeps the plan that it made when the tables were small. If that plan scans a table from end to end, its
 * cost grows with the ledger until the tables are analysed. There are few accounts at first, and they are analysed as
 * they are added; the other three tables grow by thousands of rows before they are analysed.
 */
test.each([
  ['reserve', RESERVE],
  ['end', END],
])('the plan of a young database for %s scans no table that grows with every charge', async (_, text) => {
  const database = await testDatabase({ poolMax: 1 })
  const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('ledger_hold')
  expect(plan).not.toMatch(/Seq Scan on ledger_(movement|hold|posting)/)
  await database.close()
})
