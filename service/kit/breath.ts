import { setImmediate } from 'node:timers/promises'

/** To await between the pieces of long work: every few milliseconds it lets other requests run in between. */
export function breathing(): () => Promise<void> {
  let next = performance.now() + BREATH_MS
  return async () => {
    if (performance.now() < next) return
    await setImmediate()
    next = performance.now() + BREATH_MS
  }
}

const BREATH_MS = 10
