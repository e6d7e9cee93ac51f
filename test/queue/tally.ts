import type { Clock } from '../../service/kit/clock.ts'
import type { Log } from '../../service/kit/log.ts'
import type { Outcome, QueueMeasures } from '../../service/queue/model.ts'

/** Counts what the queue reports, and lets a test wait for a count instead of for time. */
export class Tally implements QueueMeasures {
  readonly counts: Record<Outcome, number> = { done: 0, retry: 0, dead: 0, returned: 0 }
  private waiting: { met: () => boolean; resolve: () => void }[] = []

  pushed(): void {
    this.look()
  }

  swept(): void {
    this.look()
  }

  /** Nothing is counted before a sweeper's first turn. */
  sweeps(): void {
    this.look()
  }

  handled(_topic: string, outcome: Outcome): void {
    this.counts[outcome]++
    this.look()
  }

  reached(outcome: Outcome, count: number): Promise<void> {
    return this.until(() => this.counts[outcome] >= count)
  }

  /** Checked whenever something is reported or `look` is called. */
  until(met: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ met, resolve })
      this.look()
    })
  }

  look(): void {
    const still = this.waiting.filter(({ met }) => !met())
    const over = this.waiting.filter((entry) => !still.includes(entry))
    this.waiting = still
    for (const { resolve } of over) resolve()
  }
}

/** A clock that stands still until a test moves it. */
export class Hands implements Clock {
  private at = new Date('2030-01-01T00:00:00.000Z')

  now(): Date {
    return this.at
  }

  turn(ms: number): void {
    this.at = new Date(this.at.getTime() + ms)
  }
}

export const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Waits until a line has been logged so many times. */
export class Listener implements Log {
  private readonly waiting: { beginning: string; left: number; resolve: () => void }[] = []
  readonly info = this.log.bind(this)
  readonly warn = this.log.bind(this)
  readonly error = this.log.bind(this)

  waitFor(beginning: string, times = 1): Promise<void> {
    return new Promise((resolve) => this.waiting.push({ beginning, left: times, resolve }))
  }

  private log(_fields: object, line: string): void {
    for (const one of this.waiting) if (line.startsWith(one.beginning) && --one.left === 0) one.resolve()
  }
}
