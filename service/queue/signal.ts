/** Wakes one sleeper. A signal while nothing sleeps is kept for the next sleep; many signals are one. */
export class Signal {
  private raised = false
  private wake: (() => void) | null = null

  raise(): void {
    this.raised = true
    this.wake?.()
  }

  /** Sleeps until the signal is raised, at the latest for so many milliseconds. */
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

/** Resolves when the signal aborts: one side of a race that the other side may win. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
