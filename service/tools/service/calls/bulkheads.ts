/**
 * Each provider has a limit of concurrent calls. When a provider becomes slow, further calls to it are refused, and the
 * process's memory, sockets and time stay available for the others. No account gets more than half of a provider's
 * places, so an account with many keys cannot block the others. Buyers without an account share one half together,
 * because a new wallet costs nothing.
 */
export function createBulkheads(atOnce: number) {
  const underWay = new Map<string, number>()

  function add(name: string, change: 1 | -1): void {
    const count = (underWay.get(name) ?? 0) + change
    if (count === 0) underWay.delete(name)
    else underWay.set(name, count)
  }

  return {
    /** Null when the provider is full, or the account's share of it. Otherwise the function that frees the place. */
    enter(provider: string, account: string): (() => void) | null {
      const names = [provider, `${provider} ${account}`]
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

/** All buyers without an account. No account has this id. */
export const GUESTS = 'guests'
