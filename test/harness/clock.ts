import type { Clock } from '../../service/kit/clock.ts'

/** Runs with the real one until it is told otherwise; only ever forward. */
export class TestClock implements Clock {
  private ahead = 0

  now(): Date {
    return new Date(Date.now() + this.ahead)
  }

  forward(ms: number): void {
    this.ahead += ms
  }

  /** To where the next minute begins: what is counted by minutes is counted in one. */
  forwardToMinute(): void {
    this.forward(60_000 - (this.now().getTime() % 60_000))
  }
}
