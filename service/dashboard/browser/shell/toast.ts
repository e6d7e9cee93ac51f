import { useSyncExternalStore } from 'react'
import { openWatched } from '../../../ui-kit/watched.ts'

/*
 * Short messages in the corner. Apart from how they are drawn, since most code only sends them, and before the sign-in
 * there are none.
 */

export interface ToastMessage {
  tone: 'good' | 'bad' | 'plain'
  text: string
}

export interface Toast extends ToastMessage {
  id: number
}

const toasts = openWatched<readonly Toast[]>([])
let count = 0

/** Shows a short message in the corner about something that just happened. */
export function toast(said: ToastMessage): void {
  toasts.set([...toasts.read().slice(-2), { ...said, id: ++count }])
}

export function dismiss(id: number): void {
  toasts.set(toasts.read().filter((toast) => toast.id !== id))
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(toasts.watch, toasts.read)
}
