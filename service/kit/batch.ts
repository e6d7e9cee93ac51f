import { currentContext, sharedContext, within, type Context } from './context.ts'

/**
 * Gathers the asks of the same moment into one statement. While a batch is under way the next one fills,
 * so the wait is never longer than a statement and one ask alone waits for nothing; there is no timer.
 * Its statements never overlap: two of them never want the same row at once.
 */
export class Batch<Ask, Answer> {
  private readonly waiting: Entry<Ask, Answer>[] = []
  private busy = false
  private readonly plan: Plan<Ask, Answer>

  constructor(plan: Plan<Ask, Answer>) {
    this.plan = plan
  }

  add(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, resolve, reject, context: currentContext() })
      if (!this.busy) void this.drain()
    })
  }

  private async drain(): Promise<void> {
    this.busy = true
    // One turn of the event loop's microtasks: callers that were woken together travel together.
    await Promise.resolve()
    while (this.waiting.length > 0) await this.fly(this.waiting.splice(0, this.plan.largest))
    this.busy = false
  }

  private async fly(entries: Entry<Ask, Answer>[]): Promise<void> {
    try {
      // Whoever started it is not who asked for this statement.
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
  largest: number
  /** Answers in the order of the asks. Must be safe to repeat with the same ask. */
  run(asks: readonly Ask[]): Promise<readonly Answer[]>
}

interface Entry<Ask, Answer> {
  ask: Ask
  context: Context | undefined
  resolve(answer: Answer): void
  reject(error: unknown): void
}
