import { byId, totalOf, type GrowingList } from '../../service/kit/total.ts'
import { leastId } from '../../service/kit/ids.ts'
import type { Statements } from '../../service/kit/transaction.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

describe('the total of a long list', () => {
  let database: TestDatabase
  let queries: string[]
  let statements: Statements

  beforeAll(async () => {
    database = await testDatabase()
    await database.pool.query('CREATE TABLE thing (id text PRIMARY KEY, owner int)')
  })
  afterAll(() => database.close())
  beforeEach(async () => {
    await database.pool.query('TRUNCATE thing')
    queries = []
    statements = {
      run: (text, values) => {
        queries.push(text)
        return database.statements.run(text, values)
      },
    }
  })

  const HOUR_MS = 3_600_000
  const total = (owner = 1): Promise<number> => totalOf(statements, of(owner))
  const of = (owner: number): GrowingList => ({
    from: 'thing WHERE owner = $1',
    values: [BigInt(owner)],
    ...byId('run'),
  })

  async function add(rows: number, ageMs: number, owner = 1): Promise<void> {
    const id = leastId('run', new Date(Date.now() - ageMs)).slice(0, -8)
    await database.pool.query(
      `INSERT INTO thing SELECT $1 || lpad((i + (SELECT count(*) FROM thing))::text, 8, '0'), $2 FROM generate_series(1, $3::int) i`,
      [id, owner, rows],
    )
  }

  test("counts the owner's rows, also new ones", async () => {
    expect(await total()).toBe(0)
    await add(1_500, HOUR_MS)
    await add(20, HOUR_MS, 2)
    expect(await total()).toBe(1_500)
    await add(7, 0)
    expect(await total()).toBe(1_507)
    await add(1, 0)
    expect(await total()).toBe(1_508)
    expect(await total(2)).toBe(20)
  })

  test('continues from the last count', async () => {
    await add(1_500, HOUR_MS)
    await total()
    await total()
    expect(queries[0]).not.toContain('id > $2')
    expect(queries[1]).toContain('id > $2')
  })

  test('of a short list is counted each time, so deletions show', async () => {
    await add(900, HOUR_MS)
    expect(await total()).toBe(900)
    await database.pool.query(`DELETE FROM thing WHERE id IN (SELECT id FROM thing LIMIT 10)`)
    expect(await total()).toBe(890)
  })

  test('counts nothing twice when the clock was set back', async () => {
    await add(1_500, HOUR_MS)
    await add(100, HOUR_MS / 2)
    expect(await total()).toBe(1_600)
    const earlier = { ...of(1), settled: `'${leastId('run', new Date(Date.now() - 2 * HOUR_MS))}'::text` }
    expect(await totalOf(statements, earlier)).toBe(1_600)
    expect(await total()).toBe(1_600)
  })

  test('counts the newest rows again, since concurrent writes may commit late', async () => {
    await add(1_500, HOUR_MS)
    await add(500, 1_000)
    expect(await total()).toBe(2_000)
    // Created before the newest row that was counted, committed after it.
    await add(3, 2_000)
    expect(await total()).toBe(2_003)
  })
})
