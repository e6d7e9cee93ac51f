import type { Clock } from '../../service/kit/clock.ts'

/** Runs with the real clock until a test moves it; only ever forward. */
export class TestClock implements Clock {
  private ahead = 0

  now(): Date {
    return new Date(Date.now() + this.ahead)
  }

  forward(ms: number): void {
    this.ahead += ms
  }

  /** Moves to the start of the next minute: counts per minute then fall into one minute. */
  forwardToMinute(): void {
    this.forward(60_000 - (this.now().getTime() % 60_000))
  }
}
