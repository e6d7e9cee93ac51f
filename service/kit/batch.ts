import { currentContext, sharedContext, within, type Context } from './context.ts'

/**
 * Gathers the asks of the same moment into one statement. While a batch is under way the next one fills,
 * so the wait is never longer than a statement and one ask alone waits for nothing; there is no timer.
 * Asks of one lane never overlap: two batches never want the same row at once.
 */
export class Batch<Ask, Answer> {
  private readonly lanes: Lane<Ask, Answer>[]
  private readonly plan: Plan<Ask, Answer>

  constructor(plan: Plan<Ask, Answer>) {
    this.plan = plan
    this.lanes = Array.from({ length: plan.lanes }, () => ({ waiting: [], busy: false }))
  }

  add(ask: Ask): Promise<Answer> {
    const lane = this.lanes[this.plan.laneOf(ask) % this.lanes.length]
    if (lane === undefined) throw new Error('a batch needs at least one lane')
    return new Promise((resolve, reject) => {
      lane.waiting.push({ ask, resolve, reject, context: currentContext() })
      if (!lane.busy) void this.drain(lane)
    })
  }

  private async drain(lane: Lane<Ask, Answer>): Promise<void> {
    lane.busy = true
    // One turn of the event loop's microtasks: callers that were woken together travel together.
    await Promise.resolve()
    while (lane.waiting.length > 0) await this.fly(lane.waiting.splice(0, this.plan.largest))
    lane.busy = false
  }

  private async fly(entries: Entry<Ask, Answer>[]): Promise<void> {
    try {
      // Whoever started the lane is not who asked for this batch.
      const context = sharedContext(entries.map((entry) => entry.context))
      const answers = await within(context, () => this.plan.run(entries.map((entry) => entry.ask)))
      entries.forEach((entry, place) => {
        const answer = answers[place]
        if (answer === undefined) entry.reject(new Error('the batch gave no answer'))
        else entry.resolve(answer)
      })
    } catch (error) {
      const [only] = entries
      if (entries.length === 1 && only !== undefined) only.reject(error)
      // One bad row fails its whole statement: alone, each gets the answer it deserves.
      else for (const entry of entries) await this.fly([entry])
    }
  }
}

interface Plan<Ask, Answer> {
  lanes: number
  largest: number
  laneOf(ask: Ask): number
  /** Answers in the order of the asks. Must be safe to repeat with the same ask. */
  run(asks: readonly Ask[]): Promise<readonly Answer[]>
}

interface Lane<Ask, Answer> {
  waiting: Entry<Ask, Answer>[]
  busy: boolean
}

interface Entry<Ask, Answer> {
  ask: Ask
  context: Context | undefined
  resolve(answer: Answer): void
  reject(error: unknown): void
}
