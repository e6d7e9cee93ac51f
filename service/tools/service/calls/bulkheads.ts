/**
 * Each provider has so many calls at once and no more: when one becomes slow its own callers are turned away, and the
 * process's memory, sockets and time stay for all others. No account has more than half of a provider's places, so one
 * with many keys leaves room for another.
 */
export function createBulkheads(atOnce: number) {
  const underWay = new Map<string, number>()

  function add(name: string, change: 1 | -1): void {
    const count = (underWay.get(name) ?? 0) + change
    if (count === 0) underWay.delete(name)
    else underWay.set(name, count)
  }

  return {
    /** Null when it is full, or the account's share of it; else what leaves it. A stranger has no account. */
    enter(provider: string, account: string | null): (() => void) | null {
      const names = account === null ? [provider] : [provider, `${provider} ${account}`]
      const isFull = names.some(
        (name, place) => (underWay.get(name) ?? 0) >= (place === 0 ? atOnce : Math.ceil(atOnce / 2)),
      )
      if (isFull) return null
      for (const name of names) add(name, 1)
      return () => {
        for (const name of names) add(name, -1)
      }
    },
  }
}
