import type { Departure } from './departure.ts'

/** Work in progress in this process: ended and waited for when the process stops. */
export class UnderWay<Key, Result> {
  readonly #running = new Map<Key, { departure: Departure; end: Promise<Result> }>()

  get size(): number {
    return this.#running.size
  }

  async follow(key: Key, departure: Departure, work: () => Promise<Result>): Promise<Result> {
    const end = work()
    this.#running.set(key, { departure, end })
    try {
      return await end
    } finally {
      this.#running.delete(key)
    }
  }

  /** Null when it is not in progress here. */
  endOf(key: Key): Promise<Result> | null {
    return this.#running.get(key)?.end ?? null
  }

  /** Takes it back and returns its end. Null when its request was sent already, or when it is not in progress here. */
  recall(key: Key, reason: unknown): Promise<Result> | null {
    const one = this.#running.get(key)
    return one?.departure.recall(reason) === true ? one.end : null
  }

  async stop(reason: unknown): Promise<void> {
    const all = [...this.#running.values()]
    for (const { departure } of all) departure.end(reason)
    await Promise.allSettled(all.map(({ end }) => end))
  }
}

/** The work's result, or the signal's reason as soon as it aborts: work that ignores its signal is not waited for. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort)
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
