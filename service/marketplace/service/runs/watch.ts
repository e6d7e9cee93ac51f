import type { Id } from '../../../kit/ids.ts'
import { hasEnded, type RunState } from '../../model/run.ts'
import type { RunsDeps } from './deps.ts'

/**
 * Notifies listeners when a run's state changes: at once of what this process does, and of what others do by one query
 * for all watched rows twice a second, however many they are.
 */
export function createWatch({ store, log }: Pick<RunsDeps, 'store' | 'log'>) {
  const watched = new Map<Id<'run'>, Set<Listener>>()
  const known = new Map<Id<'run'>, RunState>()
  let timer: NodeJS.Timeout | null = null

  async function check(): Promise<void> {
    timer = null
    try {
      for (const [id, state] of await store.states([...watched.keys()])) if (known.get(id) !== state) notify(id, state)
    } catch (error) {
      log.warn({ err: error }, 'watched runs could not be checked')
    }
    rest()
  }

  function rest(): void {
    if (timer === null && watched.size > 0) timer = setTimeout(() => void check(), EVERY_MS).unref()
  }

  function notify(id: Id<'run'>, state: RunState): void {
    const listeners = watched.get(id)
    if (listeners === undefined) return
    known.set(id, state)
    for (const listener of [...listeners]) listener(state)
  }

  function watch(id: Id<'run'>, listener: Listener): () => void {
    const listeners = watched.get(id) ?? new Set()
    watched.set(id, listeners.add(listener))
    rest()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0 || watched.get(id) !== listeners) return
      watched.delete(id)
      known.delete(id)
    }
  }

  return {
    watch,
    notify,

    /** Resolves when it has ended. */
    async ended(id: Id<'run'>): Promise<void> {
      let unwatch: () => void = () => undefined
      await new Promise<void>((resolve) => {
        unwatch = watch(id, (state) => {
          if (hasEnded(state)) resolve()
        })
      })
      unwatch()
    },

    close(): void {
      if (timer !== null) clearTimeout(timer)
      watched.clear()
    },
  }
}

export type Watch = ReturnType<typeof createWatch>

type Listener = (state: RunState) => void

const EVERY_MS = 500
