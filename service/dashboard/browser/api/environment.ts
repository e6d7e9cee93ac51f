import { useSyncExternalStore } from 'react'
import { openWatched, remember, remembered } from '../../../ui-kit/watched.ts'
import { settings } from '../settings.ts'

export type Environment = 'sandbox' | 'production'

const KEPT = 'coinslot.environment'
const chosen = openWatched<Environment>(settings.live && remembered(KEPT) === 'production' ? 'production' : 'sandbox')

/** Whose money is looked at: everything that is asked is asked of this one. */
export function environment(): Environment {
  return chosen.read()
}

export function chooseEnvironment(wanted: Environment): void {
  // A browser that keeps nothing starts in the sandbox each time.
  remember(KEPT, wanted)
  chosen.set(wanted)
}

export function useEnvironment(): Environment {
  return useSyncExternalStore(chosen.watch, chosen.read)
}
