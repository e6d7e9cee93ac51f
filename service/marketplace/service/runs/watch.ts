import type { Id } from '../../../kit/ids.ts'
import type { Log } from '../../../kit/log.ts'
import type { RunState } from '../../model/run.ts'
import { hasEnded } from '../../model/run.ts'
import type { RunStore } from '../../ports/run.ts'

/**
 * Tells whoever is interested when a run's state changes: at once what this process does to it, and what others do
 * by one look at all watched rows twice a second, however many they are.
 */
export function createWatch(store: Pick<RunStore, 'states'>, log: Log) {
  const watched = new Map<Id<'run'>, Set<Listener>>()
  const known = new Map<Id<'run'>, RunState>()
  let timer: NodeJS.Timeout | null = null

  async function look(): Promise<void> {
    timer = null
    try {
      for (const [id, state] of await store.states([...watched.keys()])) if (known.get(id) !== state) tell(id, state)
    } catch (error) {
      log.warn({ err: error }, 'watched runs could not be looked at')
    }
    rest()
  }

  function rest(): void {
    if (timer === null && watched.size > 0) timer = setTimeout(() => void look(), EVERY_MS).unref()
  }

  function tell(id: Id<'run'>, state: RunState): void {
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
    tell,

    /** When it has ended, or when nobody waits any more. */
    async ended(id: Id<'run'>, gone?: AbortSignal): Promise<void> {
      let unwatch: () => void = () => undefined
      await new Promise<void>((resolve) => {
        gone?.addEventListener('abort', () => resolve(), { once: true })
        if (gone?.aborted === true) resolve()
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
