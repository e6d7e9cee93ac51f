import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { move, type TransferInput } from '../../service/cli/transfer/transfer.ts'
import type { Source } from '../../service/cli/transfer/model.ts'
import { openSource, readSource } from '../../service/cli/transfer/source.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { fillHistory } from '../bench/growth/fill.ts'
import { emptyDatabase } from '../harness/database.ts'

/** Each test moves the same small embedded database to a target of its own. */
describe('moving to a server', () => {
  const PAYMENTS = 200
  let dataDir: string
  let url: string
  let drop: () => Promise<void>
  let lines: string[]
  let state: Source

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-move-'))
    // This data may be lost if the machine crashes.
    const embedded = await startEmbedded({ dataDir, settings: { fsync: 'off' } })
    await migrate(embedded.url)
    await withClient(embedded.url, (client) => fillHistory(client, { people: 10, payments: PAYMENTS }))
    await withClient(embedded.url, async (client) => {
      // Values that text formats, arrays and bytes could lose in transfer.
      await client.query(
        `INSERT INTO outbox (topic, payload, created_at, due_at, last_error)
         VALUES ('t', '{"a": "tab\\tquote\\" \\u20ac \\ud83e\\ude99"}', '0001-01-01 BC', 'infinity', E'back\\\\slash \\\\N \\n\\t\\r')`,
      )
      await client.query(`INSERT INTO idempotent_request (scope, request_hash, operation, leased_until, answer)
                          VALUES ('\\x00ff5c0a', '', 'op', now(), '{"b":1,  "a":null}')`)
    })
    const running = runMove({ to: 'postgres://nobody@127.0.0.1:1/x' })
    await expect(running).rejects.toThrow(/cannot be reached/)
    const there = await emptyDatabase()
    state = await withClient(embedded.url, readSource)
    // While the service runs, no other process can use its data folder.
    await expect(runMove({ to: there.url })).rejects.toMatchObject({ code: 'data_dir_in_use' })
    await there.drop()
    await embedded.stop()
  })
  afterAll(() => {
    rmSync(dataDir, { recursive: true, force: true })
  })
  beforeEach(async () => {
    ;({ url, drop } = await emptyDatabase())
  })
  afterEach(() => drop())

  test('moves every row, resumes after an interruption, rejects differing rows, and keeps the source', async () => {
    await runMove({ dryRun: true })
    expect(lines).toContainEqual(expect.stringMatching(/tables, .* MB. The target is empty/))
    expect(await value('SELECT count(*)::int FROM pg_namespace WHERE nspname = $1', ['coinslot_move'])).toBe(0)

    await expect(interrupted('run')).rejects.toThrow('pulled the plug')
    // The move has switched the triggers off there: no service may start.
    await expect(migrate(url)).rejects.toThrow(/unfinished_move/)
    const half = await value('SELECT count(*)::int FROM ledger_posting')
    expect(half).toBeGreaterThan(0)

    // The copy is not trusted: it is compared.
    await value(`UPDATE identity_user SET name = 'Person 0 ' WHERE name = 'Person 0'`)
    await expect(runMove()).rejects.toThrow(/differs from the source in identity_user \(other content\)/)
    await expect(migrate(url)).rejects.toThrow(/unfinished_move/)
    await value(`UPDATE identity_user SET name = 'Person 0' WHERE name = 'Person 0 '`)

    await runMove()
    expect(lines).toContainEqual(expect.stringMatching(/part of this database/))
    expect(lines).toContainEqual(expect.stringMatching(/^All \d+ rows of all \d+ tables are the same/))
    expect(lines).toContain('The ledger is sound.')
    await withClient(url, expectTheSame)
    expect(await value('SELECT count(*)::int FROM run')).toBe(PAYMENTS)
    // The source has been started and stopped since, and nothing was written to it.
    await runMove()
    expect(lines).toContainEqual(expect.stringMatching(/was finished before: nothing is left to do/))

    // A start without the server's address would go on with the old data.
    await expect(startEmbedded({ dataDir })).rejects.toThrow(/was moved to a server: set DATABASE_URL/)
    rmSync(path.join(dataDir, 'moved'))

    // The service may start, the ledger is guarded, and sequences continue.
    expect(await migrate(url)).toEqual([])
    await expect(value('UPDATE ledger_movement SET reference = NULL')).rejects.toThrow(/append-only|permission/)
    await expect(value('DELETE FROM ledger_account')).rejects.toThrow(/permission/)
    expect(
      await value(`INSERT INTO delivery_attempt (delivery_id, at, duration_ms) VALUES ('x', now(), 1)
                   RETURNING id > (SELECT max(id) FROM delivery_attempt)`),
    ).toBe(true)
  })

  test('refuses a source of an earlier version, and detects a write to it', async () => {
    const embedded = await startEmbedded({ dataDir })
    await withClient(embedded.url, (client) =>
      client.query(
        `DELETE FROM _prisma_migrations WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`,
      ),
    )
    expect(await withClient(embedded.url, readSource)).not.toEqual(state)
    await embedded.stop()
    await expect(runMove()).rejects.toThrow(/is of an earlier version/)
    await startEmbedded({ dataDir }).then((again) => again.stop())
    await expect(runMove({ dataDir: path.join(dataDir, 'nowhere') })).rejects.toThrow(/no embedded database/)
  })

  async function runMove(input: Partial<TransferInput> = {}): Promise<void> {
    lines = []
    const reporter = { say: (sentence: string) => void lines.push(sentence), progress: () => undefined }
    await move({ dataDir, to: url, dryRun: false, blocksAtOnce: 2, ...input }, reporter)
  }

  /** Ends before the first rows of that table are copied. */
  async function interrupted(at: string): Promise<void> {
    const progress = ({ table }: { table: string }): void => {
      if (table === at) throw new Error('pulled the plug')
    }
    await move({ dataDir, to: url, dryRun: false, blocksAtOnce: 2 }, { say: () => undefined, progress })
  }

  /**
   * Compares without the move's own code: the rows themselves, as text; also checks that the source was not written to.
   */
  async function expectTheSame(there: pg.Client): Promise<void> {
    const source = await openSource(dataDir)
    const here = await source.connect()
    try {
      expect(source.source).toEqual(state)
      await there.query(`SET TimeZone = 'UTC'`)
      for (const { name, columns } of source.tables) {
        const text = `SELECT ROW(${columns})::text AS row FROM ${name} ORDER BY ROW(${columns})::text COLLATE "C"`
        const [mine, theirs] = await Promise.all([here.query(text), there.query(text)])
        expect(theirs.rows).toEqual(mine.rows)
      }
    } finally {
      await here.end()
      await source.close()
    }
  }

  async function value(text: string, values: unknown[] = []): Promise<unknown> {
    return await withClient(url, async (client) => {
      const { rows } = await client.query<Record<string, unknown>>(text, values)
      return Object.values(rows[0] ?? {})[0]
    })
  }

  async function withClient<T>(to: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: to })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
})
