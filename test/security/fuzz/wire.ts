import { connect } from 'node:net'

/** The response to bytes that are sent as they are, without a client that would correct them first. */
export type Reply =
  | { kind: 'answered'; status: number; headers: ReadonlyMap<string, string>; body: string; ms: number }
  /** The connection was closed without a response. */
  | { kind: 'closed'; ms: number }
  /** No response, or an incomplete one, in time. */
  | { kind: 'silent'; ms: number }

/** One connection, one request. `ends`: the client closes its side early, though it announced more bytes. */
export async function fire(port: number, bytes: Buffer, ends: boolean, patienceMs: number): Promise<Reply> {
  const started = performance.now()
  const elapsed = (): number => performance.now() - started
  return await new Promise<Reply>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    const received = (): Buffer => Buffer.concat(chunks)
    const timer = setTimeout(() => {
      done({ kind: 'silent', ms: elapsed() })
    }, patienceMs)
    const done = (reply: Reply): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(reply)
    }
    socket.on('connect', () => {
      if (ends) socket.end(bytes)
      else socket.write(bytes)
    })
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      const reply = read(received(), elapsed())
      // A stream never ends by itself: its beginning counts as the response.
      if (reply?.kind === 'answered' && isStream(reply)) done(reply)
    })
    // The service may refuse while bytes are still being sent: what it has sent by then counts.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      done(read(received(), elapsed()) ?? { kind: 'closed', ms: elapsed() })
    })
  })
}

function isStream({ headers }: Extract<Reply, { kind: 'answered' }>): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}

/** The last response in the bytes: a 100 may come before it. */
function read(bytes: Buffer, ms: number): Reply | null {
  let text = bytes.toString('utf8')
  while (/^HTTP\/1\.1 1\d\d /.test(text)) text = text.slice(text.indexOf('\r\n\r\n') + 4)
  const end = text.indexOf('\r\n\r\n')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  if (end < 0 || status === undefined) return null
  const headers = new Map<string, string>()
  for (const line of text.slice(0, end).split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  const rest = text.slice(end + 4)
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunked(rest) : rest
  return { kind: 'answered', status: Number(status), headers, body, ms }
}

function unchunked(text: string): string {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let place = 0; ;) {
    const line = bytes.indexOf('\r\n', place)
    const size = line < 0 ? 0 : parseInt(bytes.toString('latin1', place, line), 16)
    if (!(size > 0)) return Buffer.concat(parts).toString()
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    place = line + 2 + size + 2
  }
}
