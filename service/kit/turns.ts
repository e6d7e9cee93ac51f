import { Line } from './line.ts'

/**
 * A few places that many accounts share, for work that is a promise. A hundred requests of one account cost another
 * account one place in the order at most.
 */
export class Turns {
  private readonly limits: TurnLimits
  private readonly line: Line<() => void>
  private running = 0
  private waiting = 0

  constructor(limits: TurnLimits) {
    this.limits = limits
    this.line = new Line({ perAccount: limits.perAccount, waitingMax: limits.waitingPerAccount })
  }

  /** Waits for a place, works, and leaves it. `busy` makes the error where a line is full. */
  async run<T>(account: string, work: () => Promise<T>, busy: () => Error): Promise<T> {
    await this.enter(account, busy)
    try {
      return await work()
    } finally {
      this.line.leave(account)
      this.running--
      this.admit()
    }
  }

  private enter(account: string, busy: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.waiting >= this.limits.waiting || !this.line.join(account, resolve)) {
        reject(busy())
        return
      }
      this.waiting++
      this.admit()
    })
  }

  private admit(): void {
    while (this.running < this.limits.atOnce) {
      const next = this.line.next()
      if (next === undefined) return
      this.running++
      this.waiting--
      next.item()
    }
  }
}

export interface TurnLimits {
  readonly atOnce: number
  readonly perAccount: number
  /** In one account's line, and in all lines together. */
  readonly waitingPerAccount: number
  readonly waiting: number
}
