import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { startHolder, type Holder } from './holder.ts'
import { leftOf, processesOf, serverOf } from './processes.ts'

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-endings-'))
  chmodSync(folder, 0o755)
  return folder
}

/** In every way that the service's process can end: no server stays running, and no acknowledged row is lost. */
describe('when the service ends', () => {
  let fresh: string
  let dataDir: string

  beforeAll(async () => {
    fresh = newFolder()
    const embedded = await startEmbedded({ dataDir: fresh })
    await embedded.stop()
  })
  afterAll(() => {
    rmSync(fresh, { recursive: true })
  })
  beforeEach(() => {
    dataDir = newFolder()
    // With its owners: as root, the server runs as another account.
    execFileSync('cp', ['-a', `${fresh}/.`, dataDir])
  })
  afterEach(() => {
    rmSync(dataDir, { recursive: true })
  })

  test.each<[string, (holder: Holder) => unknown, { code: number | null; signal: string | null }]>([
    ['by SIGTERM', ({ child }) => child.kill('SIGTERM'), { code: 0, signal: null }],
    ['by Ctrl-C', ({ child }) => child.kill('SIGINT'), { code: 0, signal: null }],
    ['by an uncaught error', ({ child }) => child.stdin?.write('throw'), { code: 1, signal: null }],
    ['by process.exit', ({ child }) => child.stdin?.write('exit'), { code: 3, signal: null }],
    ['by kill -9', ({ child }) => child.kill('SIGKILL'), { code: null, signal: 'SIGKILL' }],
  ])(
    '%s',
    async (_, end, ending) => {
      const holder = await startHolder(dataDir)
      await holder.wrote(50)
      end(holder)
      expect(await holder.ended()).toEqual(ending)
      expect(await leftOf(dataDir, 10_000)).toEqual([])
      expect(await missing(holder)).toEqual([])
    },
    60_000,
  )

  test('together with its watchdog by kill -9, the next one ends the server before it starts its own', async () => {
    const holder = await startHolder(dataDir)
    await holder.wrote(50)
    const server = serverOf(dataDir)
    const watchdog = processesOf(dataDir).find(({ command }) => command.includes('coinslot-watchdog'))!
    process.kill(watchdog.pid, 'SIGKILL')
    holder.child.kill('SIGKILL')
    await holder.ended()
    expect(processesOf(dataDir).map(({ pid }) => pid)).toContain(server)

    expect(await missing(holder)).toEqual([])
    expect(await leftOf(dataDir, 10_000)).toEqual([])
  })

  /** The rows that were acknowledged and are not there after the next start. */
  async function missing({ acknowledged }: Holder): Promise<number[]> {
    const embedded = await startEmbedded({ dataDir })
    const client = new pg.Client({ connectionString: embedded.url })
    await client.connect()
    const { rows } = await client.query<{ id: number }>('select id from kept')
    await client.end()
    await embedded.stop()
    const present = new Set(rows.map(({ id }) => id))
    expect(acknowledged.length).toBeGreaterThanOrEqual(50)
    return acknowledged.filter((id) => !present.has(id))
  }
})
