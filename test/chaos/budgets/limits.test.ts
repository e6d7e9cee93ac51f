import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { openDatabase, type Database } from '../../../service/database/client.ts'
import { attachOrStart, startEmbedded } from '../../../service/database/embedded/database.ts'
import { migrate } from '../../../service/database/migrate.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import { createLedgerStore } from '../../../service/ledger/store/ledger.ts'
import { agentWith, policyOf, budgetsOn } from '../../budgets/harness.ts'
import { audit } from './audit.ts'
import { LIMITS, type ChaosAgent, type Orders } from './world.ts'

const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 60)
const PROCESSES = Number(process.env['CHAOS_PROCESSES'] ?? 20)

describe.each([
  ['twenty processes on a PostgreSQL server', PROCESSES],
  ['one process with the embedded database', 1],
])('%s, killed again and again', (_, processes) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-chaos-'))
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    'no limit is passed by a micro-dollar at any moment',
    async () => {
      const adminUrl = processes > 1 ? process.env['CHAOS_DATABASE_URL'] : undefined
      const own =
        adminUrl === undefined ? await startEmbedded({ dataDir: folder, settings: { max_connections: '200' } }) : null
      const url = adminUrl ?? own?.url ?? ''
      await migrate(url)
      const agents = await makeAgents(url)
      // A single process starts its own server, and takes it down when it is killed.
      if (processes === 1) await own?.stop()
      const herd = new Herd({ url: processes === 1 ? folder : url, agents, processes })
      const kills = await herd.run(SECONDS)
      const attached = processes === 1 ? await attachOrStart({ dataDir: folder }) : null
      const database = openDatabase({ url: attached?.url ?? url, poolMax: 2 })
      const found = await audit(database.statements, agents)
      process.stdout.write(`${JSON.stringify({ processes, kills, seconds: SECONDS, ...found.figures })}\n`)
      await soundly(database)
      expect(found.problems).toEqual([])
      // Without refusals and without kills, the test would prove nothing.
      expect(found.figures.refused).toBeGreaterThan((SECONDS * 500) / 60)
      expect(found.figures.fullest.every(({ share }) => share > 0.9)).toBe(true)
      expect(kills).toBeGreaterThan(SECONDS / 10)
      await database.close()
      await attached?.stop()
      if (processes > 1) await own?.stop()
    },
    (SECONDS + 240) * 1_000,
  )
})

async function soundly(database: Database): Promise<void> {
  expect(await createLedgerStore(database.statements, systemClock).differences()).toEqual([])
}

async function makeAgents(url: string): Promise<ChaosAgent[]> {
  const database = openDatabase({ url, poolMax: 2 })
  // Created at the beginning of the processes' own time.
  const clock = { now: () => new Date('2026-05-01T00:00:00.000Z') }
  const world = budgetsOn(database.statements, clock)
  const agents: ChaosAgent[] = []
  for (const { limits, callsPerMinute } of LIMITS) {
    const bounds = Object.fromEntries(Object.entries(limits).map(([limit, most]) => [limit, BigInt(most)]))
    const agent = await agentWith(world, policyOf({ limits: bounds, rate: { callsPerMinute } }), 1_000_000_000n)
    agents.push({ id: agent.id, userId: agent.owner.userId, limits, callsPerMinute })
  }
  await database.close()
  return agents
}

/** Processes that are killed at random moments and restarted. */
class Herd {
  private readonly orders: Omit<Orders, 'skewMs' | 'startedAt' | 'atOnce'> & { processes: number }
  private readonly children: (ChildProcess | null)[]
  private faults: string[] = []
  private startedAt = 0

  constructor(orders: Omit<Orders, 'skewMs' | 'startedAt' | 'atOnce'> & { processes: number }) {
    this.orders = orders
    this.children = Array.from({ length: orders.processes }, () => null)
  }

  async run(seconds: number): Promise<number> {
    // The first starts are slow on a small machine: time is counted from when all processes run.
    this.startedAt = Date.now() + 1_500 * this.children.length
    await Promise.all(this.children.map((_, place) => this.start(place)))
    const end = Date.now() + seconds * 1_000
    let kills = 0
    while (Date.now() < end && this.faults.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, this.children.length === 1 ? 3_000 : 1_500))
      const place = Math.floor(Math.random() * this.children.length)
      await this.kill(place)
      kills++
      if (this.children.length === 1) await this.start(place)
      else void this.start(place)
    }
    await Promise.all(this.children.map((_, place) => this.kill(place)))
    expect(this.faults).toEqual([])
    return kills
  }

  private async start(place: number): Promise<void> {
    const { url, agents, processes } = this.orders
    // The processes' clocks differ by up to three seconds.
    const skewMs = Math.round((Math.random() - 0.5) * 6_000)
    const orders: Orders = { url, agents, skewMs, startedAt: this.startedAt, atOnce: processes === 1 ? 64 : 8 }
    const file = path.join(import.meta.dirname, 'driver.ts')
    const child = spawn(
      process.execPath,
      ['--import', './service/launch/typescript.mjs', file, JSON.stringify(orders)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    this.children[place] = child
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('FAULT')) this.faults.push(line)
        resolve()
      })
    })
  }

  private async kill(place: number): Promise<void> {
    const child = this.children[place]
    this.children[place] = null
    if (child?.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
}
