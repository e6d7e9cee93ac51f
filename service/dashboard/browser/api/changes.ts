import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { refresh, type QueryPath } from './procedures.ts'
import { useEnvironment, type Environment } from '../settings.ts'
import { accountHeaders, sessionEnded } from './session.ts'

/*
 * One event stream for the whole page reports which kinds of data changed, and only the shown queries of these kinds
 * are refetched; there is no polling. While the stream is down, all shown queries are refetched once a minute.
 */

/** The queries to refetch when data of a kind changed. */
const SHOWN: Readonly<Record<string, readonly Start[]>> = {
  // A run's cost is held and released in the wallet, so this event also covers older runs than the newest.
  wallet: ['wallet.', 'runs.', 'payments.'],
  runs: ['runs.'],
  assets: ['assets.get', 'assets.list', 'runs.ofCustomers'],
  checkouts: ['checkouts.', 'coupons.', 'disputes.list', 'payments.'],
  // A payment's row shows whether its workflow was notified.
  deliveries: ['deliveries.', 'webhooks.', 'checkouts.payments'],
  agents: ['spending.'],
  tools: ['tools.calls', 'wallet.credits', 'connections.'],
  paywalls: ['paywalls.', 'payments.'],
  keys: ['identity.keys'],
}
type Start = QueryPath | `${string}.` | 'identity.keys'

/**
 * Follows the stream while the page is visible: a hidden page keeps no connection, and catches up when it is visible
 * again.
 */
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
  /** The id of the last event: after a reconnect the service sends the events since then. */
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
    // Random waits keep all open pages from reconnecting at the same moment after a server restart.
    const wait = Math.min(30_000, 1_000 * 2 ** tries) * (0.5 + Math.random() / 2)
    await pause(end === 'refused' ? SLOWLY_MS : wait, gone)
  }
}

/**
 * Reads one stream to its end; `refused` if the service rejects it, for example because too many are open: an early
 * retry would not help.
 */
async function listen(stream: Stream, gone: AbortSignal, opened: () => void): Promise<'over' | 'refused' | 'broken'> {
  const dead = new AbortController()
  try {
    // Not an EventSource: it cannot send the environment header and does not report the status.
    const response = await fetch('/trpc/changes', {
      headers: {
        accept: 'text/event-stream',
        'coinslot-environment': stream.at,
        ...accountHeaders(),
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
    // The connection broke, or the page was closed.
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
    // The service sends something every fifteen seconds, so a silent connection is dead.
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
