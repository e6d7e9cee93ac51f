/** Wakes one sleeper. A ring while nobody sleeps is kept for the next sleep; many rings are one. */
export interface Bell {
  ring(): void
  /** Until the bell rings, at the latest after so many milliseconds. */
  rung(withinMs: number): Promise<void>
  /** For so many milliseconds, whether it rings or not. */
  silence(forMs: number): Promise<void>
}

export function createBell(): Bell {
  let ringing = false
  let wake: (() => void) | null = null
  return {
    ring() {
      ringing = true
      wake?.()
    },
    async rung(withinMs) {
      if (!ringing) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, withinMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      wake = null
      ringing = false
    },
    silence: (forMs) =>
      new Promise((resolve) => {
        setTimeout(resolve, forMs)
      }),
  }
}
