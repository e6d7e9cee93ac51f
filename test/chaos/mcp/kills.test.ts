import { setTimeout as wait } from 'node:timers/promises'
import { chanceOf, type Chance } from '../system/chance.ts'
import { UNFINISHED } from '../system/checker/rest.ts'
import { HURRIES } from '../system/settling.ts'
import { check } from './checks.ts'
import { startLoad, type Load } from './clients.ts'
import { openWorld, PROCESSES, type World } from './world.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 150)
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000))
/** A machine that restarts processes slowly makes fewer kills by then: the run fails, and says how many. */
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 60 + 20 * KILLS)
const SETTLE_MS = 90_000

test(
  `${String(KILLS)} kills -9 of ${String(PROCESSES)} processes with seed ${String(SEED)}: calls by MCP are paid once and answered once`,
  async () => {
    const world = await openWorld()
    try {
      const chance = chanceOf(SEED)
      const load = await startLoad(world, chance.apart('load'))
      const began = Date.now()
      const kills = await killing(world, chance.apart('kills'))
      const seconds = Math.round((Date.now() - began) / 1_000)
      await world.topology.ready()
      await load.end(SETTLE_MS)
      const open = await rested(world)
      const problems = [...open, ...(await check(world, load))]
      print(JSON.stringify({ seed: SEED, kills, seconds, ...figures(load) }))
      print(await world.command('ledger', 'check'))
      for (const problem of problems.slice(0, 40)) print(`! ${problem}`)
      if (problems.length > 0) for (const one of world.topology.processes) print(one.output().slice(-2_000))
      expect(problems).toEqual([])
      expect(kills).toBe(KILLS)
    } finally {
      await world.close()
    }
  },
  (SECONDS + 240) * 1_000,
)

/** Kills any process while calls run, also one that has just come back, as long as another is there. */
async function killing({ topology }: World, chance: Chance): Promise<number> {
  const rising = new Set<Promise<void>>()
  const until = Date.now() + SECONDS * 1_000
  let kills = 0
  while (kills < KILLS && Date.now() < until) {
    await wait(chance.whole(50, 600))
    const ready = topology.processes.filter((member) => member.isReady())
    if (ready.length < 2) continue
    const member = chance.of(ready)
    await member.kill('SIGKILL')
    kills++
    const rises = member.begin().finally(() => rising.delete(rises))
    rising.add(rises)
  }
  await Promise.all(rising)
  return kills
}

/** Nothing is left between two states; work that waits for its time, or for blocks, does not have to wait. */
async function rested({ database, chain }: World): Promise<string[]> {
  const { statements } = database
  for (const deadline = Date.now() + SETTLE_MS; ;) {
    for (const text of HURRIES) await statements.run(text, [])
    await chain.mine(5)
    const open: string[] = []
    for (const [what, text] of UNFINISHED) {
      const [row] = await statements.run<{ count: bigint }>(`SELECT count(*) AS count FROM (${text}) open`, [])
      if (row !== undefined && row.count > 0n) open.push(`${String(row.count)} ${what} are left`)
    }
    if (open.length === 0 || Date.now() > deadline) return open
    await wait(500)
  }
}

function figures({ calls, purchases }: Load): Record<string, unknown> {
  const count = (...flags: boolean[]): number => flags.filter(Boolean).length
  const ofKind = (kind: string): Record<string, number> => {
    const own = calls.filter((call) => call.kind === kind)
    return {
      calls: own.length,
      answered: count(...own.map(({ final }) => final !== null && 'result' in final)),
      refused: count(...own.map(({ final }) => final !== null && 'refused' in final)),
      cut: count(...own.map(({ final }) => final === null)),
      named: count(...own.map(({ operation }) => operation !== null)),
      chargedUnseen: count(...own.map((call) => call.chargedUnseen)),
    }
  }
  const refusals = new Map<string, number>()
  for (const { final } of calls) {
    if (final === null || !('refused' in final)) continue
    refusals.set(final.refused, (refusals.get(final.refused) ?? 0) + 1)
  }
  return {
    refusals: Object.fromEntries(refusals),
    session: ofKind('session'),
    stateless: ofKind('stateless'),
    task: ofKind('task'),
    guests: { bought: purchases.length, answered: count(...purchases.map(({ final }) => final !== null)) },
  }
}

function print(line: string): void {
  process.stdout.write(`  ${line}\n`)
}
