import { setTimeout as wait } from 'node:timers/promises'
import { Agent } from 'undici'
import type { Chance } from './chance.ts'
import type { Act } from './journal.ts'
import { TheftBook, type Robbery, type Theft } from './thieves/book.ts'
import { buyBehind, farm, listForeign } from './thieves/deceivers.ts'
import { flood, importGiant, stuff, takeOut } from './thieves/floods.ts'
import { cancel, empty, lapse, leave } from './thieves/leavers.ts'
import { replay } from './thieves/replays.ts'
import { spendRevoked } from './thieves/streams.ts'
import { spendOut, takeBack } from './thieves/takers.ts'
import type { World } from './world.ts'

/** Dishonest clients beside the honest ones. Each repeats one attack. */
export interface Thieves {
  readonly thefts: readonly Theft[]
  /** From now on faults are made as well. */
  endQuiet(): void
  stop(): Promise<void>
}

export function startThieves(world: World, chance: Chance, mark: string, acts: readonly Act[]): Thieves {
  const agent = new Agent({ connections: 64, pipelining: 1 })
  const book = new TheftBook(world.topology.origin, mark, agent)
  const ending = new AbortController()
  const working = ROBBERS.map(async ([rob, pauseMs], place) => {
    const own = chance.apart(`thief ${String(place)}`)
    while (!ending.signal.aborted) {
      await rob({ world, book, chance: own, acts })
      await wait(pauseMs * (0.5 + own.draw()), undefined, { signal: ending.signal }).catch(() => undefined)
    }
  })
  return {
    thefts: book.thefts,
    endQuiet() {
      book.endQuiet()
    },
    async stop() {
      ending.abort()
      await Promise.all(working)
      await agent.destroy()
    },
  }
}

const ROBBERS: readonly (readonly [rob: (robbery: Robbery) => Promise<void>, pauseMs: number])[] = [
  [replay, 300],
  [replay, 300],
  [leave, 200],
  [leave, 200],
  [cancel, 800],
  [empty, 1_500],
  [lapse, 800],
  [spendRevoked, 1_000],
  [flood, 700],
  [takeOut, 700],
  [stuff, 1_000],
  [importGiant, 10_000],
  [takeBack, 1_000],
  [spendOut, 1_500],
  [farm, 1_500],
  [buyBehind, 2_000],
  [listForeign, 2_000],
]
