import { once } from 'node:events'
import type { Express, Response } from 'express'
import type { ServerEvent } from './route.ts'

/**
 * Server-sent events. A comment every few seconds keeps proxies from closing a quiet stream; the reader's
 * going away ends the source.
 */
export function sendEvents(response: Response, source: (gone: AbortSignal) => AsyncIterable<ServerEvent>): void {
  const gone = new AbortController()
  const open = streamsOf(response.app)
  open.add(gone)
  response.once('close', () => {
    open.delete(gone)
    gone.abort()
  })
  response.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // nginx collects answers unless told not to.
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
  const beat = setInterval(() => response.write(':\n\n'), BEAT_MS)
  write(response, source(gone.signal), gone.signal)
    // The status is sent already: all that is left to say is that the stream broke off.
    .catch(() => response.destroy())
    .finally(() => {
      clearInterval(beat)
      response.end()
    })
}

/** A stream may never end by itself: a server that stops ends those it has, and their readers come back. */
export function endStreams(app: Express): void {
  for (const gone of streamsOf(app)) gone.abort()
}

function streamsOf(app: { locals: Record<string, unknown> }): Set<AbortController> {
  return (app.locals['streams'] ??= new Set()) as Set<AbortController>
}

const BEAT_MS = 15_000

async function write(response: Response, events: AsyncIterable<ServerEvent>, gone: AbortSignal): Promise<void> {
  for await (const { event, data, id, text } of events) {
    if (gone.aborted) return
    const name = id === undefined ? '' : `id: ${id}\n`
    if (!response.write(`${name}event: ${event}\ndata: ${text ?? JSON.stringify(data)}\n\n`))
      await drained(response, gone)
  }
}

/** A reader that does not read holds the source back instead of filling the memory. */
async function drained(response: Response, gone: AbortSignal): Promise<void> {
  // Rejects when the reader is gone, and then there is nothing to wait for.
  await once(response, 'drain', { signal: gone }).catch(() => undefined)
}
