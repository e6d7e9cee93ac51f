import { useEffect, useState } from 'preact/hooks'
import type { Watched } from '../../../ui-kit/watched.ts'

export function useWatched<Value>(store: Watched<Value>): Value {
  const [value, show] = useState(store.read())
  useEffect(() => {
    const told = (): void => show(() => store.read())
    // The value may have changed between rendering and subscribing.
    told()
    return store.watch(told)
  }, [store])
  return value
}
