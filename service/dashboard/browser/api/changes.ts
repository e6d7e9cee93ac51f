import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { refresh, type QueryPath } from './procedures.ts'
import { useEnvironment, type Environment } from '../settings.ts'
import { sessionEnded } from './session.ts'

/*
 * One stream for the whole page tells what kinds of things changed, and only what is shown of those is asked anew:
 * nothing asks by the clock. While the stream is away everything that is shown is asked anew once a minute.
 */

/** What is asked anew when something of a kind changed. */
const SHOWN: Readonly<Record<string, readonly Start[]>> = {
  // What a run costs is locked and let go there: it also tells of runs that are not the newest any more.
  wallet: ['wallet.', 'runs.'],
  runs: ['runs.'],
  assets: ['assets.get', 'assets.list', 'runs.ofCustomers'],
  checkouts: ['checkouts.'],
  // A payment's row tells whether its workflow heard of it.
  deliveries: ['deliveries.', 'webhooks.', 'checkouts.payments'],
  agents: ['spending.'],
  tools: ['tools.calls', 'wallet.credits'],
  paywalls: ['paywalls.'],
  keys: ['identity.keys'],
}
type Start = QueryPath | `${string}.` | 'identity.keys'

/** Follows while the page is in sight: what is in the background holds no connection, and catches up when it is back. */
export function useChanges(isSignedIn: boolean): void {
  const cache = useQueryClient()
  const at = useEnvironment()
  useEffect(() => {
    if (!isSignedIn) return
    let gone = new AbortController()
    const stream: Stream = {
      at,
      place: null,
      isOpen: false,
      changed(kinds) {
        const starts = kinds.flatMap((kind) => SHOWN[kind] ?? [])
        if (starts.length > 0) void refresh(cache, starts)
      },
      missed: () => void cache.invalidateQueries({ predicate: ({ queryKey: [of] }) => of === at }),
    }
    const see = (): void => {
      gone.abort()
      if (document.visibilityState === 'hidden') return
      gone = new AbortController()
      void follow(stream, gone.signal)
    }
    const slowly = setInterval(() => {
      if (!stream.isOpen && document.visibilityState !== 'hidden') stream.missed()
    }, SLOWLY_MS)
    see()
    document.addEventListener('visibilitychange', see)
    return () => {
      document.removeEventListener('visibilitychange', see)
      clearInterval(slowly)
      gone.abort()
    }
  }, [at, isSignedIn, cache])
}

interface Stream {
  at: Environment
  /** The last event: after a reconnect the service sends what was missed. */
  place: string | null
  isOpen: boolean
  changed: (kinds: readonly string[]) => void
  missed: () => void
}

async function follow(stream: Stream, gone: AbortSignal): Promise<void> {
  for (let tries = 0; !gone.aborted; tries++) {
    const end = await listen(stream, gone, () => {
      // Changes before the first event are unknown.
      if (stream.place === null && tries > 0) stream.missed()
      tries = 0
    })
    stream.isOpen = false
    if (end === 'over') sessionEnded()
    if (end === 'over' || gone.aborted) return
    // Not all at the same moment: every open page has lost a server that starts anew.
    const wait = Math.min(30_000, 1_000 * 2 ** tries) * (0.5 + Math.random() / 2)
    await pause(end === 'refused' ? SLOWLY_MS : wait, gone)
  }
}

/** One stream to its end; `refused` where there are too many, and trying soon would not help. */
async function listen(stream: Stream, gone: AbortSignal, opened: () => void): Promise<'over' | 'refused' | 'broken'> {
  const dead = new AbortController()
  try {
    // Not an EventSource: that can name no environment, and tells no status.
    const response = await fetch('/trpc/changes', {
      headers: {
        accept: 'text/event-stream',
        'coinslot-environment': stream.at,
        ...(stream.place === null ? {} : { 'last-event-id': stream.place }),
      },
      signal: AbortSignal.any([gone, dead.signal]),
    })
    if (response.status === 401) return 'over'
    if (!response.ok || response.body === null) return response.status < 500 ? 'refused' : 'broken'
    for await (const { event, id, data } of read(response.body, dead)) {
      if (event === 'over') return 'over'
      opened()
      stream.isOpen = true
      stream.place = id
      stream.changed((JSON.parse(data) as { kinds: string[] }).kinds)
    }
  } catch {
    // The connection broke, or the page is gone.
  }
  return 'broken'
}

interface ServerEvent {
  event: string
  id: string
  data: string
}

async function* read(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  dead: AbortController,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    // The service says something every fifteen seconds: a connection that does not is none.
    const silent = setTimeout(() => dead.abort(), SILENT_MS)
    const part = await reader.read().finally(() => clearTimeout(silent))
    if (part.done) return
    const events = (text + part.value).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(event)?.[1] ?? ''
      // A line that begins with a colon only keeps the connection open.
      if (field('data') !== '') yield { event: field('event'), id: field('id'), data: field('data') }
    }
  }
}

async function pause(ms: number, gone: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    gone.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}

const SLOWLY_MS = 60_000
const SILENT_MS = 40_000
