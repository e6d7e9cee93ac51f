import type { Hex } from '../../chain/model.ts'
import type { Settlement } from '../model.ts'

/** Wakes all waiting callers. Each also wakes when its own time is up. */
export class Signal {
  private readonly waiting = new Set<() => void>()
  private notified = 0

  /** How often it was given. Passed to `wait`, it tells what the caller has not seen yet. */
  get count(): number {
    return this.notified
  }

  notify(): void {
    this.notified++
    const woken = [...this.waiting]
    this.waiting.clear()
    for (const wake of woken) wake()
  }

  /** Does not wait when the signal was given after the caller saw this count. */
  async wait(withinMs: number, seen = this.notified): Promise<void> {
    if (this.notified !== seen || withinMs <= 0) return
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, withinMs)
      this.waiting.add(wake)
    })
  }
}

/** Counts the authorizations of each network that are being checked, and are probably claimed in a moment. */
export class Arrivals {
  /** Given when one is no longer being checked. */
  readonly checked = new Signal()
  private readonly open = new Map<string, number>()

  count(network: string): number {
    return this.open.get(network) ?? 0
  }

  async during<Result>(network: string, check: () => Promise<Result>): Promise<Result> {
    this.open.set(network, this.count(network) + 1)
    try {
      return await check()
    } finally {
      this.open.set(network, this.count(network) - 1)
      this.checked.notify()
    }
  }
}

/** Wakes the requests that wait for the end of an authorization. */
export class Endings {
  private readonly watches = new Map<Hex, Set<Watch>>()

  /** Misses nothing from now on, until it is closed. */
  watch(digest: Hex): Watch {
    const watches = this.watches.get(digest) ?? new Set()
    const watch = new Watch(() => {
      watches.delete(watch)
      if (watches.size === 0 && this.watches.get(digest) === watches) this.watches.delete(digest)
    })
    this.watches.set(digest, watches.add(watch))
    return watch
  }

  /** `settlement`: as it is stored now. Without one, the requests read it themselves. */
  notify(digest: Hex, settlement: Settlement | null = null): void {
    for (const watch of this.watches.get(digest) ?? []) watch.notify(settlement)
  }

  notifyAll(): void {
    for (const watches of this.watches.values()) for (const watch of watches) watch.notify(null)
  }
}

export class Watch {
  readonly close: () => void
  private readonly signal = new Signal()
  private seen = 0
  private latest: Settlement | null = null

  constructor(close: () => void) {
    this.close = close
  }

  notify(settlement: Settlement | null): void {
    this.latest = settlement
    this.signal.notify()
  }

  /** Waits for the next news, for this time at most. Null when the settlement must be read. */
  async next(withinMs: number): Promise<Settlement | null> {
    await this.signal.wait(withinMs, this.seen)
    this.seen = this.signal.count
    const { latest } = this
    this.latest = null
    return latest
  }
}

/** `claimed`: there is something to sign. `ended`: a settlement may have ended. */
export interface Signals {
  claimed: Signal
  ended: Endings
  arrivals: Arrivals
}
