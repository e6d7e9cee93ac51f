/**
 * Keeps one receiver from taking all hands. Attempts to one address share a lane of so many at once. Where a lane
 * is full and quick, the next attempt waits its turn; where it is full and slow, it is sent away until a place is
 * likely, so that its hand is free for somebody else.
 */
export interface Lanes {
  /** A place, to be given back with how long it was used; or how long to stay away. */
  enter(by: { own: string; host: string; account: string; environment: string }): Promise<Pass | { stayAwayMs: number }>
}

export interface Pass {
  leave(): void
}

/**
 * How many attempts at once, in this process: to one owner's address, to one host of all owners, to all addresses of
 * one account, which may have as many names as it likes, and of one environment.
 */
export interface LaneSizes {
  own: number
  host: number
  account: number
  environment: number
}

export function createLanes(sizes: LaneSizes, chance: () => number): Lanes {
  const lanes = new Map<string, Lane>()

  function laneOf(key: string, size: number): Lane {
    let lane = lanes.get(key)
    if (lane === undefined) {
      lane = { key, size, since: new Set(), waiting: [], averageMs: 0, freeAt: 0 }
      lanes.set(key, lane)
    }
    return lane
  }

  function pass(taken: readonly Lane[]): Pass {
    const since = { at: performance.now() }
    for (const lane of taken) lane.since.add(since)
    return {
      leave() {
        const usedMs = performance.now() - since.at
        for (const lane of taken) {
          lane.since.delete(since)
          lane.averageMs += (usedMs - lane.averageMs) * NEWEST_WEIGHS
        }
        for (const lane of taken) {
          lane.waiting.shift()?.()
          if (lane.since.size === 0 && lane.waiting.length === 0) lanes.delete(lane.key)
        }
      },
    }
  }

  return {
    async enter(by) {
      const taken = KINDS.map((kind) => laneOf(`${kind} ${by[kind]}`, sizes[kind]))
      const patience = performance.now() + PATIENCE_MS
      for (;;) {
        const full = taken.find((lane) => lane.since.size >= lane.size)
        if (full === undefined) return pass(taken)
        const leftMs = patience - performance.now()
        if (leftMs <= 0 || paceMs(full) > SLOW_MS) return { stayAwayMs: stayAwayMs(full, chance()) }
        await room(full, leftMs)
      }
    },
  }
}

const KINDS = ['own', 'host', 'account', 'environment'] as const

interface Lane {
  key: string
  size: number
  /** One for each attempt under way, oldest first. */
  since: Set<{ at: number }>
  waiting: (() => void)[]
  averageMs: number
  /** When the last one that was sent away may expect a place. */
  freeAt: number
}

/** Whoever waits in the process holds a hand; longer than this the receiver counts as slow. */
const PATIENCE_MS = 1_000
const SLOW_MS = 500
const STAY_AWAY_MS_MAX = 60_000
const NEWEST_WEIGHS = 0.2

/** What an attempt takes here: on average, or what the oldest has taken so far. */
function paceMs(lane: Lane): number {
  const [oldest] = lane.since
  return Math.max(lane.averageMs, oldest === undefined ? 0 : performance.now() - oldest.at)
}

/** Those sent away come back one after the other, as fast as the lane moves, and not all at once. */
function stayAwayMs(lane: Lane, chance: number): number {
  const now = performance.now()
  lane.freeAt = Math.min(now + STAY_AWAY_MS_MAX, Math.max(now, lane.freeAt) + paceMs(lane) / lane.size)
  return Math.max(1_000, lane.freeAt - now) * (1 + 0.1 * chance)
}

function room(lane: Lane, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      const place = lane.waiting.indexOf(done)
      if (place >= 0) lane.waiting.splice(place, 1)
      resolve()
    }, withinMs)
    lane.waiting.push(done)
  })
}
