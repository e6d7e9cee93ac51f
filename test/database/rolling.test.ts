import { testDatabase, type TestDatabase } from '../harness/database.ts'
import type { Statements } from '../../service/kit/transaction.ts'

const CONNECTIONS = 3

describe('a process that serves while the next version adds a column', () => {
  let database: TestDatabase
  let migration: ReturnType<TestDatabase['another']>

  beforeEach(async () => {
    database = await testDatabase({ poolMax: CONNECTIONS })
    migration = database.another()
    await migration.statements.run('CREATE TABLE thing (id text PRIMARY KEY, amount bigint NOT NULL)', [])
    await migration.statements.run(`INSERT INTO thing VALUES ('one', 1)`, [])
  })
  afterEach(() => database.close())

  const read = ({ run }: Pick<Statements, 'run'>) => run('SELECT * FROM thing WHERE id = $1', ['one'], 'thing_find')
  const add = ({ run }: Pick<Statements, 'run'>) =>
    run('UPDATE thing SET amount = amount + 1 WHERE id = $1 RETURNING *', ['one'], 'thing_add')
  const migrate = (column: string) => migration.statements.run(`ALTER TABLE thing ADD COLUMN ${column} text`, [])
  const amount = () => migration.statements.run('SELECT amount FROM thing', [])

  const atOnce = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: CONNECTIONS }, work))

  /** Each of the pool's connections has both statements prepared. */
  async function prepare(): Promise<void> {
    let waiting = 0
    let start = (): void => undefined
    const all = new Promise<void>((resolve) => (start = resolve))
    await atOnce(() =>
      database.statements.together(async (inside) => {
        await read(inside)
        if (++waiting === CONNECTIONS) start()
        await all
      }),
    )
    await atOnce(() => database.statements.together(add))
    expect(database.pool.totalCount).toBe(CONNECTIONS)
  }

  it('reads and writes on with the statements that its connections have prepared', async () => {
    await prepare()
    await migrate('two')
    expect(await read(database.statements)).toEqual([{ id: 'one', amount: 4n, two: null }])
    expect(await add(database.statements)).toEqual([{ id: 'one', amount: 5n, two: null }])
    await migrate('three')
    await atOnce(() => add(database.statements))
    expect(await amount()).toEqual([{ amount: 8n }])
  })

  it('repeats a transaction as a whole, once, and commits what it wrote once', async () => {
    await prepare()
    await migrate('two')
    let runs = 0
    const work = async (inside: Statements): Promise<unknown> => {
      runs++
      await inside.run('UPDATE thing SET amount = amount + 10', [])
      return await read(inside)
    }
    expect(await database.statements.together(work)).toEqual([{ id: 'one', amount: 14n, two: null }])
    expect(runs).toBe(2)
    await migrate('three')
    expect(await database.transaction(work)).toEqual([{ id: 'one', amount: 24n, two: null, three: null }])
    expect(runs).toBe(4)
    expect(await amount()).toEqual([{ amount: 24n }])
  })

  it('answers transactions on all of its connections at once', async () => {
    await prepare()
    await migrate('two')
    await atOnce(() => database.statements.together(add))
    await migrate('three')
    await atOnce(() => database.transaction(add))
    expect(await amount()).toEqual([{ amount: 10n }])
  })

  it('repeats no work that failed for another reason', async () => {
    let runs = 0
    const fails = (inside: Pick<Statements, 'run'>) => {
      runs++
      return inside.run('SELECT missing FROM thing', [], 'thing_missing')
    }
    await expect(database.statements.together(fails)).rejects.toMatchObject({ code: '42703' })
    await expect(database.transaction(fails)).rejects.toMatchObject({ code: '42703' })
    expect(runs).toBe(2)
  })

  it('reads through Prisma, which names its columns, on the connections that it has', async () => {
    const { prisma } = database
    const find = () => prisma.apiKey.findMany({ where: { userId: 'one' } })
    await atOnce(find)
    const count = database.pool.totalCount
    await migration.statements.run('ALTER TABLE identity_api_key ADD COLUMN later text', [])
    expect(await atOnce(find)).toEqual([[], [], []])
    expect(await prisma.$transaction((tx) => tx.apiKey.findMany())).toEqual([])
    expect(database.pool.totalCount).toBe(count)
  })
})
