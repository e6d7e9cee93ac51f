/** Wakes everybody who waits, at the latest when their time is up. */
export interface Signal {
  notify(): void
  wait(withinMs: number): Promise<void>
}

export function createSignal(): Signal {
  let waiting: (() => void)[] = []
  return {
    notify() {
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
