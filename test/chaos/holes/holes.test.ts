import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { chanceOf } from '../system/chance.ts'
import { checkThefts } from '../system/checker/thefts.ts'
import { gather } from '../system/evidence.ts'
import { startLoad } from '../system/load.ts'
import { startThieves } from '../system/thieves.ts'
import { startWatch } from '../system/watch.ts'
import { openWorld } from '../system/world.ts'
import { HOLES, type Hole } from './holes.ts'

/*
 * Puts each hole back into the built service, only in its own processes, and lets thieves attack it: a checker that
 * misses these holes proves nothing. `CHAOS_HOLE=digest npm run chaos -- holes` tries one.
 */
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 40)
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000))
const CHOSEN = process.env['CHAOS_HOLE']
const DIST = 'service/dist'
const REGISTER = fileURLToPath(new URL('register.mjs', import.meta.url))
/** Time for started requests to end and for blocks to come. */
const REST_MS = 12_000
/** Longer than any authorization of these runs is valid, and than the service waits after that. */
const EXPIRY_SECONDS = 600

test.each(
  HOLES.filter(({ name }) => CHOSEN === undefined || name === CHOSEN).map((hole) => [hole.name, hole] as const),
)(
  `the planted hole %s is found with seed ${String(SEED)}`,
  async (_name, hole) => {
    const began = Date.now()
    const problems = await rob(hole)
    print(`${hole.name}, seed ${String(SEED)}, ${((Date.now() - began) / 1_000).toFixed(0)} s:`)
    for (const problem of problems.slice(0, 5)) print(`  ${problem}`)
    expect(problems.filter((problem) => hole.found.test(problem))).not.toEqual([])
  },
  (SECONDS + 400) * 1_000,
)

/** Thieves beside honest clients, without faults, so that every promise holds exactly. */
async function rob({ from, to, found, shows }: Hole): Promise<string[]> {
  // If the text to replace is missing, the hole would not be made, and the checker could not find it.
  expect(builtFiles().filter((text) => text.includes(from))).toHaveLength(1)
  const world = await openWorld({
    NODE_OPTIONS: `--import ${REGISTER}`,
    CHAOS_PATCH: JSON.stringify({ from, to }),
  })
  const watch = startWatch(world)
  const chance = chanceOf(SEED)
  const mark = `h${String(SEED)}`
  const load = startLoad(world, chance.apart('load'), mark)
  try {
    await wait(0.15 * SECONDS * 1_000)
    watch.beginTheft()
    const thieves = startThieves(world, chance.apart('thieves'), mark, load.acts)
    await wait(0.85 * SECONDS * 1_000)
    load.stop()
    await thieves.stop()
    world.thief.sink.heal()
    if (shows === 'after expiry') await world.chain.call('evm_increaseTime', EXPIRY_SECONDS)
    await wait(REST_MS)
    await watch.stop()
    const evidence = await gather(world, load.acts, thieves.thefts)
    const { statements } = world.control.database
    const all = [...(await checkThefts(statements, evidence)), ...watch.problems(load.acts)]
    return [...all.filter((problem) => found.test(problem)), ...all.filter((problem) => !found.test(problem))]
  } finally {
    load.stop()
    await watch.stop()
    await world.close()
  }
}

function builtFiles(): string[] {
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
  return files.map((name) => readFileSync(path.join(DIST, name), 'utf8'))
}

function print(line: string): void {
  process.stdout.write(`  ${line}\n`)
}
