/** A value that everyone who watches it is told about. */
export interface Watched<Value> {
  read(): Value
  set(next: Value): void
  /** Of a record, a part. */
  change(part: Partial<Value>): void
  watch(told: () => void): () => void
}

export function openWatched<Value>(first: Value): Watched<Value> {
  let now = first
  const watchers = new Set<() => void>()
  const set = (next: Value): void => {
    now = next
    for (const told of watchers) told()
  }
  return {
    read: () => now,
    set,
    change: (part) => set({ ...now, ...part }),
    watch(told) {
      watchers.add(told)
      return () => watchers.delete(told)
    },
  }
}

/** What this browser remembers under a name; null also where it is told to remember nothing. */
export function remembered(name: string, storage: () => Storage = () => localStorage): string | null {
  try {
    return storage().getItem(name)
  } catch {
    return null
  }
}

/** Null forgets it. False where the browser refuses: then it goes with the page. */
export function remember(name: string, text: string | null, storage: () => Storage = () => localStorage): boolean {
  try {
    if (text === null) storage().removeItem(name)
    else storage().setItem(name, text)
    return true
  } catch {
    return false
  }
}
