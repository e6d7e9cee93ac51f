import { answerError } from '../../service/api/errors.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

/** The server cuts connections: a statement on one of them fails with an error, and the process continues. */
describe('a database connection that is cut', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await testDatabase({ poolMax: 3 })
  })
  afterAll(() => database.close())

  async function cut(pid: number): Promise<void> {
    const { pool } = database.another()
    await pool.query('SELECT pg_terminate_backend($1)', [pid])
    for (;;) {
      const { rowCount } = await pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])
      if (rowCount === 0) break
    }
    // The connection's last messages are still waiting in this process's event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }

  test('between two statements of a transaction fails that transaction alone, as a database that is away', async () => {
    const transaction = database.statements.together(async (inside) => {
      const [row] = await inside.run<{ pid: number }>('SELECT pg_backend_pid() AS pid', [])
      await cut(row!.pid)
      return await inside.run('SELECT 1', [])
    })
    const error = await transaction.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(answerError(error, 'req_1')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(await database.statements.run('SELECT 1 AS one', [])).toEqual([{ one: 1 }])
  })

  test('in Prisma’s hands is the same', async () => {
    const transaction = database.transaction(async ({ prisma, run }) => {
      const [row] = await run<{ pid: number }>('SELECT pg_backend_pid() AS pid', [])
      await cut(row!.pid)
      return await prisma.user.count()
    })
    const error = await transaction.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(answerError(error, 'req_1')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(await database.prisma.user.count()).toBe(0)
  })
})
