import type { Clock } from '../../service/kit/clock.ts'

/** Runs with the real clock until a test moves it, only ever forward, or has it stand still. */
export class TestClock implements Clock {
  private ahead = 0
  private stoppedAt: number | null = null

  now(): Date {
    return new Date((this.stoppedAt ?? Date.now()) + this.ahead)
  }

  /** All that the work does happens at one moment, however long this machine takes: for what is counted by the second. */
  async still<T>(work: () => Promise<T>): Promise<T> {
    this.stoppedAt = Date.now()
    try {
      return await work()
    } finally {
      this.stoppedAt = null
    }
  }

  forward(ms: number): void {
    this.ahead += ms
  }

  /** Moves to the start of the next minute: counts per minute then fall into one minute. */
  forwardToMinute(): void {
    this.forward(60_000 - (this.now().getTime() % 60_000))
  }
}
