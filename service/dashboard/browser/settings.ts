import type { Settings } from '../document.ts'
import { useSyncExternalStore } from 'react'
import { openWatched, remember, remembered } from '../../ui-kit/watched.ts'

/** The settings that the service put into this page's document. */
export const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Settings

/** How far the service's clock is ahead of this one; measured while the page loads, good to a second or so. */
const aheadMs = Date.parse(settings.now) - Date.now()

/** The service's time: a reader's clock may be hours off, and then nothing was "just now". */
export function serviceNow(): number {
  return Date.now() + aheadMs
}

// Libraries that insert styles read the nonce here, which the content security policy requires.
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce
Object.assign(globalThis, { __webpack_nonce__: nonce })

export type Environment = 'sandbox' | 'production'

const KEPT = 'coinslot.environment'
const chosen = openWatched<Environment>(settings.live && remembered(KEPT) === 'production' ? 'production' : 'sandbox')

/** The chosen environment: every request is for this one. */
export function environment(): Environment {
  return chosen.read()
}

export function chooseEnvironment(wanted: Environment): void {
  // A browser without storage starts in the sandbox each time.
  remember(KEPT, wanted)
  chosen.set(wanted)
}

export function useEnvironment(): Environment {
  return useSyncExternalStore(chosen.watch, chosen.read)
}
