import { CoinslotError } from './errors.ts'

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
  // Joined once an event is complete: a server may send it a byte at a time.
  let parts: string[] = []
  let length = 0
  for await (const piece of piecesOf(body, signal)) {
    received()
    let text = decoder.decode(piece, { stream: true })
    for (;;) {
      // Only the new text can complete an event; the character before it may begin the empty line.
      const last = parts.at(-1)?.slice(-1) ?? ''
      const end = (last + text).indexOf('\n\n') - last.length
      if (end < -last.length) break
      const event = toEvent(end < 0 ? parts.join('').slice(0, end) : parts.join('') + text.slice(0, end))
      text = text.slice(end + 2)
      parts = []
      length = 0
      if (event !== null) yield event
    }
    length += text.length
    if (length > SIZE_MAX) throw tooLarge()
    if (text !== '') parts.push(text)
  }
}

/** The whole body as text. */
export async function readText({ body }: Response, signal: AbortSignal): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of piecesOf(body, signal)) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > SIZE_MAX) throw tooLarge()
  }
  return text + decoder.decode()
}

/** Far above every answer of the API: a server that sends without an end must not fill the memory. */
const SIZE_MAX = 64_000_000

function tooLarge(): CoinslotError {
  return new CoinslotError('The answer is larger than 64 MB. Check that baseUrl is the address of a Coinslot server.', {
    code: 'answer_too_large',
  })
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
