import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { startEmbedded, type Embedded } from '../../../service/database/embedded/database.ts'
import { migrate } from '../../../service/database/migrate.ts'
import { fillHistory } from '../../bench/growth/fill.ts'

/** The command as operators run it, killed at random moments until one run completes. */
describe('a move that is killed', () => {
  const PAYMENTS = Number(process.env['CHAOS_PAYMENTS'] ?? 20_000)
  const SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000)
  let folder: string
  let server: Embedded

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'coinslot-move-'))
    const source = await startEmbedded({ dataDir: path.join(folder, 'source') })
    await migrate(source.url)
    const client = await connect(source.url)
    await fillHistory(client, { people: 200, payments: PAYMENTS })
    await client.end()
    await source.stop()
    server = await startEmbedded({ dataDir: path.join(folder, 'target') })
  }, 300_000)
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('resumes until every row is copied once', async () => {
    console.log(`seed ${String(SEED)}`)
    const admin = await connect(server.adminUrl)
    await admin.query('CREATE DATABASE unhurt OWNER coinslot')
    await admin.query('CREATE DATABASE killed OWNER coinslot')
    await admin.end()
    const started = performance.now()
    expect(await run('unhurt', null)).toMatchObject({ code: 0 })
    const tookMs = performance.now() - started

    let chance = SEED
    const stages: string[] = []
    for (let kills = 0; ; kills++) {
      chance = (chance * 48_271 + 11) % 2_147_483_647
      // Each run gets a little more time, so that one completes.
      const { code, output } = await run(
        'killed',
        Math.min(((chance % 1_000) / 1_000) * tookMs * 0.6 + kills * 20, 60_000),
      )
      stages.push(await stageOf('killed'))
      if (code === 0) {
        expect(output).toMatch(/rows of all \d+ tables are the same|was finished before/)
        break
      }
    }
    console.log(`${String(stages.length - 1)} kills: ${stages.join(', ')}`)
    expect(stages.filter((stage) => stage.startsWith('copying')).length).toBeGreaterThan(0)

    const [unhurt, killed] = [await connect(urlOf('unhurt')), await connect(urlOf('killed'))]
    const { rows: tables } = await unhurt.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname <> '_prisma_migrations'`,
    )
    for (const { name } of tables) {
      const text = `SELECT count(*)::int AS rows, md5(string_agg(t::text, '|' ORDER BY t::text COLLATE "C")) AS sum FROM ${name} t`
      expect({ name, ...(await killed.query(text)).rows[0] }).toEqual({ name, ...(await unhurt.query(text)).rows[0] })
    }
    await unhurt.end()
    await killed.end()
    expect(await migrate(urlOf('killed'))).toEqual([])
  }, 900_000)

  /** How far the target's journal says that it is. */
  async function stageOf(database: string): Promise<string> {
    const client = await connect(urlOf(database))
    try {
      const { rows } = await client.query<{ phase: string; tables: number }>(
        'SELECT phase, (SELECT count(*)::int FROM coinslot_move.copied) AS tables FROM coinslot_move.move',
      )
      return `${rows[0]?.phase ?? 'nothing'} ${String(rows[0]?.tables ?? 0)}`
    } catch {
      return 'nothing'
    } finally {
      await client.end()
    }
  }

  async function run(database: string, killAfterMs: number | null): Promise<{ code: number | null; output: string }> {
    const command = ['service/dist/cli/move.js', '--to', urlOf(database)]
    const child = spawn(process.execPath, command, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] ?? '', DATA_DIR: path.join(folder, 'source') },
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    const ended = once(child, 'exit')
    if (killAfterMs !== null) {
      void Promise.race([delay(killAfterMs, null, { ref: false }), ended]).then(() => child.kill('SIGKILL'))
    }
    const [code] = (await ended) as [number | null]
    return { code, output }
  }

  function urlOf(database: string): string {
    const url = new URL(server.url)
    url.pathname = `/${database}`
    return url.href
  }

  async function connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return client
  }
})
