/**
 * Wakes one waiting caller. A signal without a waiting caller is stored for the next one. Several signals count as one.
 */
export class Signal {
  private raised = false
  private wake: (() => void) | null = null

  raise(): void {
    this.raised = true
    this.wake?.()
  }

  /** Waits until the signal is raised, at most for this many milliseconds. */
  async wait(withinMs: number): Promise<void> {
    if (!this.raised) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs)
        this.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.wake = null
    this.raised = false
  }
}

/** Resolves when the signal aborts, for use in a race. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
