import { useSyncExternalStore } from 'react'
import { openWatched, remember, remembered } from '../../../ui-kit/watched.ts'

export const THEMES = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const
export type Theme = (typeof THEMES)[number][0]

const KEPT = 'coinslot.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const theme = openWatched<Theme>(THEMES.find(([each]) => each === remembered(KEPT))?.[0] ?? 'system')
theme.watch(apply)
dark.addEventListener('change', apply)

export function useTheme(): Theme {
  return useSyncExternalStore(theme.watch, theme.read)
}

export function chooseTheme(wanted: Theme): void {
  remember(KEPT, wanted === 'system' ? null : wanted)
  theme.set(wanted)
}

/** The document's inline script did the same before the first paint. */
function apply(): void {
  const chosen = theme.read()
  document.documentElement.dataset['theme'] = chosen !== 'system' ? chosen : dark.matches ? 'dark' : 'light'
}
