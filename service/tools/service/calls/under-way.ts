import { stopping } from '../../errors/call.ts'

/** Calls in progress in this process: aborted and waited for when it stops. */
export class UnderWay {
  private readonly running = new Map<AbortController, Promise<unknown>>()
  private stopped = false

  get size(): number {
    return this.running.size
  }

  /** `leave` is called when the caller disconnects, and decides whether that ends the work. */
  async follow<T>({ signal, until, leave }: Leaving, work: () => Promise<T>): Promise<T> {
    if (this.stopped) throw stopping()
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted === true) leave()
    const result = work()
    this.running.set(until, result)
    try {
      return await result
    } finally {
      this.running.delete(until)
      signal?.removeEventListener('abort', leave)
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
    for (const until of this.running.keys()) until.abort(stopping())
    await Promise.allSettled(this.running.values())
  }
}

interface Leaving {
  signal: AbortSignal | undefined
  until: AbortController
  leave: () => void
}
