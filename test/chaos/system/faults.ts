import { setTimeout as wait } from 'node:timers/promises'
import type { Member } from '../../system/topology.ts'
import type { Chance } from './chance.ts'
import { RPC_MOODS } from './rpc.ts'
import { MOODS } from './strangers.ts'
import type { World } from './world.ts'

export type FaultCounts = Record<string, number>

/**
 * Makes one fault after the other, some overlapping, until the time is up; then repairs all. The seed decides which and
 * when.
 */
export async function trouble(
  world: World,
  chance: Chance,
  untilMs: number,
  print: (line: string) => void,
): Promise<FaultCounts> {
  const counts: FaultCounts = {}
  const lasting = new Set<Promise<void>>()
  const dead = new Set<Member>()
  const busy = new Set<string>()
  const { topology, rpc, receiver, echo, seller, chain } = world
  const { database, redis, processes } = topology
  if (database === null || redis === null) throw new Error('there is nothing to take away')

  /** A component that exists once is not broken twice at the same time. */
  async function alone(name: string, work: () => Promise<void>): Promise<void> {
    if (busy.has(name)) return
    busy.add(name)
    try {
      await work()
    } finally {
      busy.delete(name)
    }
  }

  const faults: readonly (readonly [weight: number, make: () => [string, () => Promise<void>]])[] = [
    [
      8,
      () => {
        const member = chance.of(processes)
        const signal = chance.whole(1, 5) === 1 ? 'SIGTERM' : 'SIGKILL'
        const pauseMs = chance.whole(0, 3_000)
        return [
          `${signal} of ${member.name.split('-')[0] ?? ''}`,
          () =>
            alone(member.name, async () => {
              dead.add(member)
              await member.kill(signal)
              await wait(pauseMs)
              await rise(member)
              dead.delete(member)
            }),
        ]
      },
    ],
    [
      2,
      () => {
        const mode = chance.of(['fast', 'immediate'] as const)
        const pauseMs = chance.whole(0, 2_000)
        return [
          `PostgreSQL ${mode}`,
          () =>
            alone('database', async () => {
              await database.stop(mode)
              await wait(pauseMs)
              await database.start()
            }),
        ]
      },
    ],
    [1, () => ['Redis flushed', () => alone('redis', () => redis.flush())]],
    [
      2,
      () => {
        const pauseMs = chance.whole(500, 5_000)
        return [
          'Redis stopped',
          () =>
            alone('redis', async () => {
              await redis.kill()
              await wait(pauseMs)
              await redis.revive()
            }),
        ]
      },
    ],
    [
      4,
      () => {
        const mood = chance.of(RPC_MOODS)
        const lastsMs = chance.whole(1_000, 5_000)
        return [
          `RPC ${mood}`,
          () =>
            alone('rpc', async () => {
              rpc.mood = mood
              await wait(lastsMs)
              rpc.heal()
            }),
        ]
      },
    ],
    [
      2,
      () => {
        const depth = chance.whole(1, 2)
        return [`reorganisation of ${String(depth)}`, () => alone('chain', () => chain.reorg(depth))]
      },
    ],
    [
      3,
      () => {
        const [name, stranger] = chance.of([
          ['receiver', receiver],
          ['upstream', echo],
          ['seller', seller],
        ] as const)
        const mood = chance.of(MOODS)
        const lastsMs = chance.whole(1_000, 6_000)
        return [
          `${name} ${mood}`,
          () =>
            alone(name, async () => {
              stranger.mood = mood
              await wait(lastsMs)
              stranger.heal()
            }),
        ]
      },
    ],
  ]
  const lots = faults.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))

  const began = Date.now()
  while (Date.now() < untilMs) {
    await wait(chance.whole(500, 3_500))
    const [name, work] = chance.of(lots)()
    counts[name] = (counts[name] ?? 0) + 1
    print(`${((Date.now() - began) / 1000).toFixed(1)} s ${name}`)
    const lasts = work().finally(() => lasting.delete(lasts))
    lasting.add(lasts)
    // A fault that cannot be repaired is an error of the system: it is reported when all faults are awaited.
    lasts.catch(() => undefined)
    if (lasting.size > 5) await Promise.race(lasting)
  }
  await Promise.all(lasting)
  return counts
}

/** Restarts a service until it runs, as a supervisor does: without its database it exits with an error message. */
async function rise(member: Member): Promise<void> {
  for (let time = 1; ; time++) {
    try {
      await member.begin()
      return
    } catch (error) {
      if (time === 30) throw error
      await member.kill('SIGKILL')
      await wait(500)
    }
  }
}
