import { useSyncExternalStore } from 'react'

export interface Said {
  tone: 'good' | 'bad' | 'plain'
  text: string
}

export interface Toast extends Said {
  id: number
}

let toasts: readonly Toast[] = []
let count = 0
const listeners = new Set<() => void>()

/** A sentence in the corner, for what just happened. */
export function say(said: Said): void {
  toasts = [...toasts.slice(-2), { ...said, id: ++count }]
  tell()
}

export function dismiss(id: number): void {
  toasts = toasts.filter((toast) => toast.id !== id)
  tell()
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => toasts)
}

function tell(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
