/**
 * How many attempts may run at once in this process: to one owner's address, to one host across all owners, to all
 * addresses of one account, which may use any number of names, and in one environment.
 */
export interface SlotLimits {
  own: number
  host: number
  account: number
  environment: number
}

export type Slots = ReturnType<typeof createSlots>

/**
 * Keeps one receiver from using the whole process. Attempts to one address share a group of slots. If a group is full
 * and fast, the next attempt waits; if it is full and slow, the attempt is postponed until a slot is likely to be free,
 * so that attempts to other receivers can run.
 */
export function createSlots(limits: SlotLimits, chance: () => number) {
  const groups = new Map<string, Group>()

  function groupOf(key: string, size: number): Group {
    let group = groups.get(key)
    if (group === undefined) {
      group = { key, size, since: new Set(), waiting: [], averageMs: 0, freeAt: 0 }
      groups.set(key, group)
    }
    return group
  }

  function take(taken: readonly Group[]): { leave(): void } {
    const since = { at: performance.now() }
    for (const group of taken) group.since.add(since)
    return {
      leave() {
        const usedMs = performance.now() - since.at
        for (const group of taken) {
          group.since.delete(since)
          group.averageMs += (usedMs - group.averageMs) * NEWEST_WEIGHS
        }
        for (const group of taken) {
          group.waiting.shift()?.()
          if (group.since.size === 0 && group.waiting.length === 0) groups.delete(group.key)
        }
      },
    }
  }

  return {
    /** Returns a slot, which `leave` frees, or how long to stay away. */
    async enter(by: Readonly<Record<keyof SlotLimits, string>>): Promise<{ leave(): void } | { stayAwayMs: number }> {
      const wanted = KINDS.map((kind) => [`${kind} ${by[kind]}`, limits[kind]] as const)
      const deadline = performance.now() + WAIT_MS_MAX
      for (;;) {
        // Looked up after each wait: an empty group is forgotten, and another attempt may have begun a new one.
        const full = wanted.map(([key]) => groups.get(key)).find((group) => group !== undefined && isFull(group))
        if (full === undefined) return take(wanted.map(([key, size]) => groupOf(key, size)))
        const leftMs = deadline - performance.now()
        if (leftMs <= 0 || paceMs(full) > SLOW_MS) return { stayAwayMs: stayAwayMs(full, chance()) }
        await room(full, leftMs)
      }
    },
  }
}

const KINDS = ['own', 'host', 'account', 'environment'] as const

interface Group {
  key: string
  size: number
  /** One entry per attempt under way, oldest first. */
  since: Set<{ at: number }>
  waiting: (() => void)[]
  averageMs: number
  /** When the last postponed attempt can expect a slot. */
  freeAt: number
}

/** An attempt that waits in the process takes up one of its workers, so it waits only this long. */
const WAIT_MS_MAX = 1_000
/** A receiver that takes longer than this counts as slow. */
const SLOW_MS = 500
const STAY_AWAY_MS_MAX = 60_000
const NEWEST_WEIGHS = 0.2

function isFull({ since, size }: Group): boolean {
  return since.size >= size
}

/** How long an attempt takes in this group: the average, or the time of the oldest one under way if that is longer. */
function paceMs(group: Group): number {
  const [oldest] = group.since
  return Math.max(group.averageMs, oldest === undefined ? 0 : performance.now() - oldest.at)
}

/** Postponed attempts return one after the other, at the pace of the group. */
function stayAwayMs(group: Group, chance: number): number {
  const now = performance.now()
  group.freeAt = Math.min(now + STAY_AWAY_MS_MAX, Math.max(now, group.freeAt) + paceMs(group) / group.size)
  return Math.max(1_000, group.freeAt - now) * (1 + 0.1 * chance)
}

function room(group: Group, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      const place = group.waiting.indexOf(done)
      if (place >= 0) group.waiting.splice(place, 1)
      resolve()
    }, withinMs)
    group.waiting.push(done)
  })
}
