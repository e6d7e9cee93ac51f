/** A value that notifies its watchers of changes. */
export interface Watched<Value> {
  read(): Value
  set(next: Value): void
  /** Changes some fields of a record. */
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

/** The text that this browser stores under a name; null also if the browser blocks storage. */
export function remembered(name: string, storage: () => Storage = () => localStorage): string | null {
  try {
    return storage().getItem(name)
  } catch {
    return null
  }
}

/** Null deletes the entry. False if the browser refuses to store it: then the value lasts only as long as the page. */
export function remember(name: string, text: string | null, storage: () => Storage = () => localStorage): boolean {
  try {
    if (text === null) storage().removeItem(name)
    else storage().setItem(name, text)
    return true
  } catch {
    return false
  }
}
