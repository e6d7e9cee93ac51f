/**
 * The moment at which a request leaves for the one who does the work. Until then its caller may take it back, and it costs
 * nothing. From then on it may have had an effect, so it runs to its own end and is charged if it succeeds: hanging up
 * or canceling after that changes nothing.
 */
export class Departure {
  readonly #recalled = new AbortController()
  #left = false

  constructor(caller?: AbortSignal) {
    if (caller === undefined) return
    const recall = (): void => void this.recall(caller.reason)
    caller.addEventListener('abort', recall, { once: true })
    if (caller.aborted) recall()
  }

  /** Aborts when the caller takes the request back in time. Never aborts once it has left. */
  get signal(): AbortSignal {
    return this.#recalled.signal
  }

  get left(): boolean {
    return this.#left
  }

  /** Called right before the request is sent, again before each repetition. Throws when it was taken back before. */
  leave(): void {
    this.signal.throwIfAborted()
    this.#left = true
  }

  /** Answers whether it came in time. */
  recall(reason?: unknown): boolean {
    if (!this.#left) this.#recalled.abort(reason)
    return !this.#left
  }
}
