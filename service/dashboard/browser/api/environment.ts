import { useSyncExternalStore } from 'react'
import { settings } from '../settings.ts'

export type Environment = 'sandbox' | 'production'

const KEPT = 'coinslot.environment'

let chosen: Environment = settings.live && kept() === 'production' ? 'production' : 'sandbox'
const listeners = new Set<() => void>()

/** Whose money is looked at: everything that is asked is asked of this one. */
export function environment(): Environment {
  return chosen
}

export function chooseEnvironment(wanted: Environment): void {
  chosen = wanted
  try {
    localStorage.setItem(KEPT, wanted)
  } catch {
    // A browser that keeps nothing starts in the sandbox each time.
  }
  for (const listener of listeners) listener()
}

export function useEnvironment(): Environment {
  return useSyncExternalStore(subscribe, environment)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT)
  } catch {
    return null
  }
}
