/** Wakes everybody who waits, at the latest when their time is up. */
export interface Bell {
  ring(): void
  wait(withinMs: number): Promise<void>
}

export function createBell(): Bell {
  let waiting: (() => void)[] = []
  return {
    ring() {
      const woken = waiting
      waiting = []
      for (const wake of woken) wake()
    },
    wait: (withinMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, withinMs)
        waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      }),
  }
}
