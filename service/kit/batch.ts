import { currentContext, sharedContext, within, type Context } from './context.ts'

/**
 * Gathers the inputs of the same moment into one statement. While a batch runs the next one fills, so an input waits
 * for one statement at most, and a single input does not wait. There is no timer. Statements never overlap, so two of
 * them never need the same row at once.
 */
export class Batch<Input, Result> {
  private readonly waiting: Entry<Input, Result>[] = []
  private busy = false
  private readonly plan: Plan<Input, Result>

  constructor(plan: Plan<Input, Result>) {
    this.plan = plan
  }

  add(input: Input): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject, context: currentContext() })
      if (!this.busy) void this.drain()
    })
  }

  private async drain(): Promise<void> {
    this.busy = true
    // One turn of the microtask queue, so that callers that were woken together share a batch.
    await Promise.resolve()
    while (this.waiting.length > 0) await this.flush(this.waiting.splice(0, this.plan.largest))
    this.busy = false
  }

  private async flush(entries: Entry<Input, Result>[]): Promise<void> {
    try {
      const context = sharedContext(entries.map((entry) => entry.context))
      const results = await within(context, () => this.plan.run(entries.map((entry) => entry.input)))
      entries.forEach((entry, place) => {
        const result = results[place]
        if (result === undefined) entry.reject(new Error('the batch gave no answer'))
        else entry.resolve(result)
      })
    } catch (error) {
      const [only] = entries
      if (entries.length === 1 && only !== undefined) only.reject(error)
      // One bad row fails the whole statement, so each input is then retried alone and gets its own result.
      else for (const entry of entries) await this.flush([entry])
    }
  }
}

interface Plan<Input, Result> {
  largest: number
  /** Returns results in the order of the inputs. Must be safe to repeat with the same input. */
  run(inputs: readonly Input[]): Promise<readonly Result[]>
}

interface Entry<Input, Result> {
  input: Input
  context: Context | undefined
  resolve(result: Result): void
  reject(error: unknown): void
}
