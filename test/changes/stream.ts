/** A page that listens: records the changes as they arrive. */
export interface Listener {
  status: number
  /** The kinds in the next message, beyond those that were read already; `over` at the last message. */
  next(): Promise<readonly string[] | 'over' | 'ended'>
  /** Resolves when a change of this kind has arrived. */
  waitFor(kind: string): Promise<void>
  lastId: string | null
  leave(): void
}

export async function listen(
  origin: string,
  headers: Readonly<Record<string, string>>,
  lastId: string | null = null,
): Promise<Listener> {
  const controller = new AbortController()
  const response = await fetch(`${origin}/trpc/changes`, {
    headers: { ...headers, ...(lastId === null ? {} : { 'last-event-id': lastId }) },
    signal: controller.signal,
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const listener: Listener = {
    status: response.status,
    lastId,
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const event = text.slice(0, end)
          text = text.slice(end + 2)
          if (event.includes('event: over')) return 'over'
          const data = /^data: (.*)$/m.exec(event)?.[1]
          if (data === undefined) continue
          listener.lastId = /^id: (.*)$/m.exec(event)?.[1] ?? null
          return (JSON.parse(data) as { kinds: string[] }).kinds
        }
        const { done, value } = await reader.read()
        if (done) return 'ended'
        text += value
      }
    },
    async waitFor(kind) {
      for (;;) {
        const kinds = await listener.next()
        if (typeof kinds === 'string') throw new Error(`the stream has ended before it told of ${kind}`)
        if (kinds.includes(kind)) return
      }
    },
    leave() {
      controller.abort()
    },
  }
  return listener
}
