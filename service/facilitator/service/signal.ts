/** Wakes all waiting callers. Each also wakes when its own time is up. */
export function createSignal() {
  let waiting: (() => void)[] = []
  return {
    notify(): void {
      const woken = waiting
      waiting = []
      for (const wake of woken) wake()
    },
    wait: (withinMs: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, withinMs)
        waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      }),
  }
}

export type Signal = ReturnType<typeof createSignal>

/** `claimed`: there is something to sign. `ended`: a settlement may have ended. */
export interface Signals {
  claimed: Signal
  ended: Signal
}
