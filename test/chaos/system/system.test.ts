import { setTimeout as wait } from 'node:timers/promises'
import { check } from './checker.ts'
import { chanceOf } from './chance.ts'
import { gather } from './evidence.ts'
import { trouble } from './faults.ts'
import { KINDS, type Act } from './journal.ts'
import { startLoad } from './load.ts'
import { PLANTS, plant } from './plants.ts'
import { settle } from './settling.ts'
import { startThieves } from './thieves.ts'
import type { Theft } from './thieves/book.ts'
import { startWatch } from './watch.ts'
import { openWorld, type World } from './world.ts'

const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 1_200)
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000))
/** Shares of the time: without thieves and faults, and then without faults. */
const QUIET = 0.15
const THEFT = 0.35
/** Longer than the lifetime of a paid call's authorization that never reached its seller, and its confirmations. */
const SETTLE_MS = 400_000

test(
  `${String(SECONDS)} seconds of faults with seed ${String(SEED)}: nothing lost, nothing duplicated`,
  async () => {
    print(`CHAOS_SEED=${String(SEED)} CHAOS_SECONDS=${String(SECONDS)}`)
    const world = await openWorld()
    try {
      await shake(world)
    } finally {
      await world.close()
    }
  },
  (SECONDS + 600) * 1_000,
)

async function shake(world: World): Promise<void> {
  const chance = chanceOf(SEED)
  const mark = `s${String(SEED)}`
  const watch = startWatch(world)
  const load = startLoad(world, chance.apart('load'), mark)
  const untilMs = Date.now() + SECONDS * 1_000
  // An authorization for a seller who never used it lives for two minutes: the last one begins early enough.
  const early = setTimeout(() => load.stop('pay'), Math.max(0.4 * SECONDS, SECONDS - 60) * 1_000)
  // Honest clients alone, then thieves beside them, then faults beside both.
  await wait(QUIET * SECONDS * 1_000)
  watch.beginTheft()
  const thieves = startThieves(world, chance.apart('thieves'), mark, load.acts)
  await wait(THEFT * SECONDS * 1_000)
  watch.endQuiet()
  thieves.endQuiet()
  const faults = await trouble(world, chance.apart('faults'), untilMs, print)
  await thieves.stop()
  world.thief.sink.heal()
  world.rpc.behind.clear()
  await watch.stop()
  clearTimeout(early)
  load.stop()
  const began = Date.now()
  await load.rested()
  const open = await settle(world, load, SETTLE_MS, print)
  const settleSeconds = (Date.now() - began) / 1_000
  const evidence = await gather(world, load.acts, thieves.thefts)
  const { statements } = world.control.database
  const problems = [...open, ...(await check(statements, evidence)), ...watch.problems(load.acts)]
  const difference = await reconciled(world)
  if (difference !== 0n) problems.push(`books and chain differ by ${String(difference)}`)
  print(JSON.stringify({ seed: SEED, seconds: SECONDS, settleSeconds, ...figures(load.acts), faults }))
  print(JSON.stringify({ thefts: counted(thieves.thefts), ...watch.figures(load.acts) }))
  if (problems.length > 0) report(world, problems)
  expect(problems).toEqual([])
  print('clean')

  // The checker must find the faults that are planted on purpose, or its silence proves nothing. The processes are
  // killed first, because planting disables the guards of the tables.
  await Promise.all(world.topology.processes.map((member) => member.kill('SIGKILL')))
  const missed: string[] = []
  for (const each of PLANTS) if ((await plant(each, statements, evidence)).length === 0) missed.push(each.name)
  expect(missed).toEqual([])
  print(`the checker found ${String(PLANTS.length)} of ${String(PLANTS.length)} planted faults`)
}

/** The service's own reconciliation, which it makes every day. */
async function reconciled({ control }: World): Promise<bigint | null> {
  for (let look = 0; ; look++) {
    const report = await control.wallets.reconciling.reconcile()
    if (report?.difference === 0n || look === 20) return report?.difference ?? null
    // What is not booked up to this block will be a block or two later.
    await wait(1_000)
  }
}

function report({ topology }: World, problems: readonly string[]): void {
  for (const problem of problems.slice(0, 60)) print(`! ${problem}`)
  for (const member of topology.processes) print(`${member.name} said: ${member.output().slice(-3_000)}`)
}

function print(line: string): void {
  process.stdout.write(`  ${line}\n`)
}

function figures(acts: readonly Act[]): Record<string, unknown> {
  const byKind = KINDS.map((kind) => {
    const own = acts.filter((act) => act.kind === kind)
    const done = own.filter(({ final }) => final?.status === 200).length
    const sent = own.reduce((sum, act) => sum + act.sent, 0)
    return [kind, { acts: own.length, sent, done }]
  })
  return { acts: acts.length, kinds: Object.fromEntries(byKind) as unknown }
}

/** By kind and status: shows how far the thieves got. */
function counted(thefts: readonly Theft[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind, status } of thefts) {
    const name = `${kind} ${String(status ?? 'none')}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
