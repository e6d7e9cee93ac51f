/** What the work held at its worst beyond what was held before it, looked at every few milliseconds. */
export async function heldDuring<T>(work: () => Promise<T>): Promise<Held<T>> {
  const before = process.memoryUsage()
  let buffers = before.arrayBuffers
  let resident = before.rss
  const look = () => {
    const now = process.memoryUsage()
    buffers = Math.max(buffers, now.arrayBuffers)
    resident = Math.max(resident, now.rss)
  }
  const timer = setInterval(look, 2)
  try {
    const result = await work()
    look()
    return { result, buffers: buffers - before.arrayBuffers, resident: resident - before.rss }
  } finally {
    clearInterval(timer)
  }
}

interface Held<T> {
  readonly result: T
  /** Bytes in buffers, those included that wait for the collector. */
  readonly buffers: number
  /** Bytes that the process took from the system. */
  readonly resident: number
}
