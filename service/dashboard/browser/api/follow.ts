import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { settings } from '../settings.ts'
import { refresh } from './ask.ts'
import { environment } from './environment.ts'

/**
 * A run's states as they come. `EventSource` can name no environment, so the stream is read by `fetch`; when it
 * breaks off before the run has ended, it is opened anew, ever more slowly.
 */
export function useFollowedRun(id: string, isOver: boolean): void {
  const kept = useQueryClient()
  useEffect(() => {
    if (isOver || settings.apiPath === null) return
    const gone = new AbortController()
    void follow(`${settings.apiPath}/runs/${id}/events`, gone.signal, () => {
      void refresh(kept, ['runs.', 'wallet.'])
    })
    return () => {
      gone.abort()
    }
  }, [id, isOver, kept])
}

async function follow(address: string, gone: AbortSignal, changed: () => void): Promise<void> {
  for (let tries = 0; !gone.aborted; tries++) {
    try {
      const response = await fetch(address, {
        headers: { accept: 'text/event-stream', 'coinslot-environment': environment() },
        signal: gone,
      })
      if (response.status >= 400 && response.status < 500) return
      if (response.ok && response.body !== null) {
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          // A line that begins with a colon only keeps the connection open.
          if (/^data:/m.test(part.value)) {
            tries = 0
            changed()
          }
        }
        // A run's stream ends with the run.
        return
      }
    } catch {
      // Broken off, or nobody listens any more.
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 1_000 * 2 ** tries)))
  }
}
