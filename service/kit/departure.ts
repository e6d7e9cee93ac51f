/**
 * The moment when a request is sent to the server that does the work. Before it, the caller may take the request back
 * at no cost. After it, the work may have had an effect, so it runs to its end and is charged if it succeeds, even if
 * the caller disconnects or cancels.
 */
export class Departure {
  readonly #caller: AbortSignal | undefined
  #ended: AbortController | null = null
  #left = false

  constructor(caller?: AbortSignal) {
    this.#caller = caller
  }

  /** Aborts when the caller takes the request back in time, and when the work is ended. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  get left(): boolean {
    return this.#left
  }

  /**
   * Call right before the request is sent, and again before each repetition. Throws when the caller has taken it back,
   * or the work was ended.
   */
  leave(): void {
    this.signal.throwIfAborted()
    this.#left = true
  }

  /** Returns whether the request was taken back in time. */
  recall(reason?: unknown): boolean {
    if (!this.#left) this.end(reason)
    return !this.#left
  }

  /** Ends the work, also after its request was sent: its time is over, or the process stops. */
  end(reason: unknown): void {
    this.#ending.abort(reason)
  }

  /** Created when it is first needed: most requests are free, and need none. */
  get #ending(): AbortController {
    if (this.#ended !== null) return this.#ended
    this.#ended = new AbortController()
    const caller = this.#caller
    const recall = (): void => void this.recall(caller?.reason)
    caller?.addEventListener('abort', recall, { once: true })
    if (caller?.aborted === true) recall()
    return this.#ended
  }
}
