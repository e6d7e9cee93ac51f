import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Button } from '../parts/Button.tsx'
import { toFault } from '../api/fault.ts'

/**
 * Shown while the service does not answer. Failed queries are retried at growing intervals, and at once when the
 * browser is online again or the person asks for it.
 */
export function Connection() {
  const cache = useQueryClient()
  const lost = useSyncExternalStore(
    (listener) => cache.getQueryCache().subscribe(listener),
    () =>
      cache
        .getQueryCache()
        .getAll()
        .some(({ state }) => state.error !== null && toFault(state.error).isSilence),
  )
  const [tries, setTries] = useState(0)

  useEffect(() => {
    if (!lost) {
      setTries(0)
      return
    }
    const again = (): void => {
      setTries((count) => count + 1)
      void cache.invalidateQueries({ predicate: ({ state }) => state.error !== null })
    }
    const wait = setTimeout(again, Math.min(30_000, 2_000 * 2 ** tries))
    window.addEventListener('online', again)
    return () => {
      clearTimeout(wait)
      window.removeEventListener('online', again)
    }
  }, [lost, tries, cache])

  if (!lost) return null
  return (
    <div role="status" className="flex items-center justify-center gap-3 bg-bad-soft px-4 py-2 text-bad">
      <span>No connection to the service. This page may be out of date.</span>
      <Button
        small
        onClick={() => {
          setTries(0)
          void cache.invalidateQueries({ predicate: ({ state }) => state.error !== null })
        }}
      >
        Reconnect
      </Button>
    </div>
  )
}
