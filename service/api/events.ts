import { once } from 'node:events'
import type { Express, Response } from 'express'
import type { Caller } from '../kit/caller.ts'
import { DomainError } from '../kit/errors.ts'
import { quotaExceeded } from '../kit/quota.ts'
import type { ServerEvent } from './route.ts'

/**
 * Server-sent events. A comment every few seconds keeps proxies from closing a quiet stream. When the client
 * disconnects, the source ends. An account's stream ends when the credential that opened it ends, and every stream has
 * a maximum lifetime: its client then opens a new one.
 */
export function sendEvents(
  response: Response,
  source: (gone: AbortSignal) => AsyncIterable<ServerEvent>,
  owner: StreamOwner | null = null,
): void {
  // A client that has disconnected emits no further event, which would end it.
  if (response.closed) return
  const { checkMs, lifeMs, perAccount } = limitsOf(response.app)
  const open = streamsOf(response.app)
  if (owner !== null && [...open.values()].filter((account) => account === owner.account).length >= perAccount)
    throw quotaExceeded('event_streams', perAccount, null)
  const gone = new AbortController()
  open.set(gone, owner?.account ?? null)
  response.once('close', () => {
    open.delete(gone)
    gone.abort()
  })
  response.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // nginx buffers answers unless this header forbids it.
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
  const beat = setInterval(() => response.write(':\n\n'), BEAT_MS)
  const life = setTimeout(() => gone.abort(), lifeMs).unref()
  const check = owner === null ? undefined : setInterval(() => void endUnlessThere(owner, gone), checkMs).unref()
  write(response, source(gone.signal), gone.signal)
    // The status is already sent, so breaking the connection is the only way to report the error.
    .catch(() => response.destroy())
    .finally(() => {
      clearInterval(beat)
      clearTimeout(life)
      clearInterval(check)
      response.end()
    })
}

/** The account that a stream belongs to. */
export interface StreamOwner {
  /** Streams are limited by account. */
  readonly account: string
  /** Whether the credential that opened the stream is still good. */
  isStillThere(): Promise<boolean>
}

/** `identify` reads the request's credential again, as at its beginning. */
export function streamOwner(caller: Caller, identify: () => Promise<Caller>): StreamOwner {
  return {
    account: JSON.stringify([caller.environment, caller.issuer, caller.subject]),
    isStillThere: () =>
      identify().then(
        (now) => now.keyId === caller.keyId && now.issuer === caller.issuer && now.subject === caller.subject,
        isDoubtful,
      ),
  }
}

/** A stream must not end because the database is unavailable for a moment. */
function isDoubtful(error: unknown): boolean {
  return !(error instanceof DomainError && error.kind === 'unauthenticated')
}

async function endUnlessThere(owner: StreamOwner, gone: AbortController): Promise<void> {
  if (!(await owner.isStillThere())) gone.abort()
}

export interface StreamLimits {
  /** How often a stream's credential is checked again. */
  readonly checkMs: number
  readonly lifeMs: number
  /** How many streams an account may have open at once in this process. */
  readonly perAccount: number
}

export function limitStreams(app: Express, limits: StreamLimits): void {
  app.locals['streamLimits'] = limits
}

function limitsOf(app: { locals: Record<string, unknown> }): StreamLimits {
  return (app.locals['streamLimits'] as StreamLimits | undefined) ?? UNLIMITED
}

/** For an application that serves no accounts. */
const UNLIMITED: StreamLimits = { checkMs: 15_000, lifeMs: 3_600_000, perAccount: Infinity }

/** A stream may never end by itself, so a server that stops ends all its streams; their clients reconnect. */
export function endStreams(app: Express): void {
  for (const gone of streamsOf(app).keys()) gone.abort()
}

function streamsOf(app: { locals: Record<string, unknown> }): Map<AbortController, string | null> {
  return (app.locals['streams'] ??= new Map()) as Map<AbortController, string | null>
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

/** Waits until a slow client has read, so that unread events do not fill the memory. */
async function drained(response: Response, gone: AbortSignal): Promise<void> {
  // Rejects when the client has disconnected; there is nothing left to wait for then.
  await once(response, 'drain', { signal: gone }).catch(() => undefined)
}
