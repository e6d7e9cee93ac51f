/** One of `text/event-stream`. */
export interface ServerEvent {
  event: string
  id: string | null
  data: unknown
}

/** The events of a response's body, each as soon as it is complete. `received` is called for every piece. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  received: () => void,
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let buffered = ''
  for await (const piece of piecesOf(body, signal)) {
    received()
    // Only the new text can complete an event; the character before it may begin the empty line.
    let searchFrom = Math.max(0, buffered.length - 1)
    buffered += decoder.decode(piece, { stream: true })
    for (;;) {
      const end = buffered.indexOf('\n\n', searchFrom)
      if (end < 0) break
      const event = toEvent(buffered.slice(0, end))
      buffered = buffered.slice(end + 2)
      searchFrom = 0
      if (event !== null) yield event
    }
  }
}

/** The whole body as text. */
export async function readText({ body }: Response, signal: AbortSignal): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of piecesOf(body, signal)) text += decoder.decode(piece, { stream: true })
  return text + decoder.decode()
}

/**
 * Ends at the signal by itself: Node 20 forgets the signal of a request whose headers have arrived as soon as it
 * collects garbage, and the body would be read on.
 */
async function* piecesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', cancel)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Null for a comment, which only keeps the connection open. */
function toEvent(block: string): ServerEvent | null {
  let event = 'message'
  let id: string | null = null
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    const value = line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') event = value
    else if (name === 'id') id = value
    else if (name === 'data') data.push(value)
  }
  return data.length === 0 ? null : { event, id, data: JSON.parse(data.join('\n')) as unknown }
}
