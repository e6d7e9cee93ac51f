/**
 * Each provider has so many calls at once and no more: when one becomes slow its own callers are turned away, and the
 * process's memory, sockets and time stay for all others.
 */
export function createBulkheads(atOnce: number) {
  const underWay = new Map<string, number>()
  return {
    /** Null when it is full; else what leaves it. */
    enter(provider: string): (() => void) | null {
      const before = underWay.get(provider) ?? 0
      if (before >= atOnce) return null
      underWay.set(provider, before + 1)
      return () => {
        const left = (underWay.get(provider) ?? 1) - 1
        if (left === 0) underWay.delete(provider)
        else underWay.set(provider, left)
      }
    },
  }
}
