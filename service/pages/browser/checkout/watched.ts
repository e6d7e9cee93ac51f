import { useEffect, useState } from 'preact/hooks'

/** One record that whoever looks at it is told of. */
export interface Watched<Record extends object> {
  read(): Record
  change(part: Partial<Record>): void
  watch(told: () => void): () => void
}

export function openWatched<Record extends object>(first: Record): Watched<Record> {
  let now = first
  const watchers = new Set<() => void>()
  return {
    read: () => now,
    change(part) {
      now = { ...now, ...part }
      for (const told of watchers) told()
    },
    watch(told) {
      watchers.add(told)
      return () => watchers.delete(told)
    },
  }
}

export function useWatched<Record extends object>(store: Watched<Record>): Record {
  const [record, show] = useState(store.read())
  useEffect(() => {
    const told = (): void => {
      show(store.read())
    }
    // Something may have changed between drawing and watching.
    told()
    return store.watch(told)
  }, [store])
  return record
}
