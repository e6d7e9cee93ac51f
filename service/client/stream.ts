/** One of `text/event-stream`. */
export interface ServerEvent {
  event: string
  id: string | null
  data: unknown
}

/** The events of a response's body, each as soon as it is complete. `received` is called for every piece. */
export async function* readEvents(body: ReadableStream<Uint8Array>, received: () => void): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let buffered = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      received()
      const text = decoder.decode(value, { stream: true })
      // Only the new text can complete an event; the two characters before it may begin the empty line.
      let searchFrom = Math.max(0, buffered.length - 1)
      buffered += text
      for (;;) {
        const end = buffered.indexOf('\n\n', searchFrom)
        if (end < 0) break
        const event = toEvent(buffered.slice(0, end))
        buffered = buffered.slice(end + 2)
        searchFrom = 0
        if (event !== null) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
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
