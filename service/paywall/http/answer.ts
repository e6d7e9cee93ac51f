import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished, pipeline } from 'node:stream'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { HeaderList, Outcome } from '../model.ts'

/** Writes an outcome to the connection; resolves when it is sent or the reader has disconnected. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  outcome: Outcome,
  /** The stream to write to, if it is not the response itself. */
  wire: Writable = response,
): Promise<void> {
  const { status, headers, body, trailers, cutAfterMs, whenSent } = outcome
  const whole = Buffer.isBuffer(body)
  const bodiless = request.method === 'HEAD' || status === 204 || status === 304
  response.statusCode = status
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    // A buffered body's length is set below. An answer to HEAD keeps the length that the upstream announced.
    if (lower === 'content-length' && whole && request.method !== 'HEAD') continue
    if (OURS.has(lower)) response.setHeader(name, value)
    else response.appendHeader(name, value)
  }
  if (whole && !bodiless) response.setHeader('Content-Length', body.length)
  // Otherwise the rest of the request's body would have to be read before the next request on this connection.
  if (!request.complete && Number(request.headers['content-length'] ?? SINK_MAX) >= SINK_MAX) {
    response.setHeader('Connection', 'close')
  }
  const arrived = new Promise<boolean>((resolve) => {
    // A client that has disconnected already emits no further event.
    if (response.closed || response.destroyed) resolve(false)
    response.once('finish', () => {
      resolve(true)
    })
    response.once('close', () => {
      resolve(false)
    })
  })
  const cut = cutAfterMs === undefined ? undefined : setTimeout(() => wire.destroy(), cutAfterMs)
  if (body === null || whole) wire.end(bodiless ? undefined : body)
  else {
    const chunked = !response.hasHeader('content-length') && !bodiless
    if (chunked && trailers !== undefined) response.setHeader('Trailer', 'X-Payment-Balance')
    // With a known length the first chunk comes soon and travels with the headers; a stream may stay silent for long.
    if (chunked) response.flushHeaders()
    body.once('end', () => {
      if (chunked && trailers !== undefined) response.addTrailers({ ...trailers() })
    })
    pass(body, wire)
  }
  const whether = await arrived
  clearTimeout(cut)
  await whenSent?.(whether)
}

/**
 * As `pipeline` does, which makes a signal for each call that nothing here listens to: a tenth of what a free call costs.
 * Whatever ends one side before the body has ended ends the other.
 */
function pass(body: Readable, wire: Writable): void {
  let ended = false
  body.once('end', () => {
    ended = true
  })
  body.on('error', () => undefined)
  body.once('close', () => {
    if (!ended) wire.destroy()
  })
  wire.on('error', () => undefined)
  wire.once('close', () => {
    if (!ended) body.destroy()
  })
  if (wire.destroyed) body.destroy()
  // It broke off before, and emits no further event.
  else if (body.destroyed) wire.destroy()
  else body.pipe(wire)
}

/** Set by the gate before; each may appear only once. */
const OURS: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'content-type',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-content-type-options',
])
const SINK_MAX = 1_048_576

/** For a client that requested another protocol and gets a plain answer. */
export async function refuseUpgrade(socket: Duplex, { status, headers, body, whenSent }: Outcome): Promise<void> {
  const whole = Buffer.isBuffer(body) ? body : null
  const said = whole === null ? headers : headers.filter(([name]) => name.toLowerCase() !== 'content-length')
  const length: HeaderList = whole === null ? [] : [['Content-Length', String(whole.length)]]
  socket.write(headOf(status, [...said, ...length, ['Connection', 'close']]))
  const sent = new Promise<boolean>((resolve) => {
    finished(socket, { readable: false }, (error) => {
      resolve(error == null)
    })
  })
  if (body === null || whole !== null) socket.end(whole ?? undefined)
  // The end of the body closes the connection.
  else pipeline(body as Readable, socket, () => undefined)
  // Nothing reads the socket any more, and a stream without a reader never emits its end.
  socket.resume()
  await whenSent?.(await sent)
}

function headOf(status: number, headers: HeaderList): string {
  const lines = [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? 'Unknown'}`]
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Relays both directions until either ends or the money is used up. */
export function tunnel(socket: Duplex, head: Buffer, outcome: Outcome, upstream: Duplex): void {
  const { headers, cutAfterMs, whenSent } = outcome
  socket.write(headOf(101, [['Connection', 'Upgrade'], ['Upgrade', 'websocket'], ...headers]))
  if (head.length > 0) upstream.write(head)
  const cut =
    cutAfterMs === undefined
      ? undefined
      : setTimeout(() => {
          socket.destroy()
        }, cutAfterMs)
  let open = 2
  const end = (): void => {
    if (--open > 0) return
    clearTimeout(cut)
    // If this fails, the call is charged its minimum when its hold ends.
    whenSent?.(true).catch(() => undefined)
  }
  pipeline(socket, upstream, end)
  pipeline(upstream, socket, end)
}
