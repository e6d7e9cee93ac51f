import { useSyncExternalStore } from 'react'
import { openWatched } from '../../../ui-kit/watched.ts'

export interface Said {
  tone: 'good' | 'bad' | 'plain'
  text: string
}

export interface Toast extends Said {
  id: number
}

const toasts = openWatched<readonly Toast[]>([])
let count = 0

/** A sentence in the corner, for what just happened. */
export function say(said: Said): void {
  toasts.set([...toasts.read().slice(-2), { ...said, id: ++count }])
}

export function dismiss(id: number): void {
  toasts.set(toasts.read().filter((toast) => toast.id !== id))
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(toasts.watch, toasts.read)
}
