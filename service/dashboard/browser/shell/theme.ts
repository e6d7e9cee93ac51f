import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let chosen: Theme = kept()
dark.addEventListener('change', apply)

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => chosen)
}

export function chooseTheme(theme: Theme): void {
  chosen = theme
  try {
    if (theme === 'system') localStorage.removeItem(KEPT)
    else localStorage.setItem(KEPT, theme)
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
  apply()
  for (const listener of listeners) listener()
}

/** The document did the same before anything was painted. */
function apply(): void {
  document.documentElement.dataset['theme'] = chosen !== 'system' ? chosen : dark.matches ? 'dark' : 'light'
}

const KEPT = 'coinslot.theme'

function kept(): Theme {
  try {
    const theme = localStorage.getItem(KEPT)
    return theme === 'light' || theme === 'dark' ? theme : 'system'
  } catch {
    return 'system'
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
