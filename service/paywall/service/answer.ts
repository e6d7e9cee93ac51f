import { PassThrough, type Readable } from 'node:stream'
import type { HeaderList, UpstreamAnswer } from '../model.ts'
import { headerIn } from '../rules/headers.ts'

/** An upstream's answer, ready for sale: whole, so that it can be stored and sent again, or as a stream. */
export type Gathered =
  | { kind: 'whole'; status: number; headers: HeaderList; body: Buffer; trailers: UpstreamAnswer['trailers'] }
  | { kind: 'stream'; status: number; headers: HeaderList; body: Readable; trailers: UpstreamAnswer['trailers'] }
  | { kind: 'tunnel'; answer: UpstreamAnswer }

/**
 * Waits for the end of a short answer. A type of a stream, a large announced length or a long duration make it a
 * stream.
 */
export async function gather(
  answer: UpstreamAnswer,
  limits: { keptBytes: number; gatherMs: number; wholeMs: number },
): Promise<Gathered> {
  const { status, headers, body, trailers } = answer
  if (answer.tunnel !== null) return { kind: 'tunnel', answer }
  // Destroyed before it has a listener, a body emits no further event.
  if (body.destroyed && !body.readableEnded) throw brokenOff()
  const type = headerIn(headers, 'content-type') ?? ''
  const announced = Number(headerIn(headers, 'content-length') ?? 0)
  if (STREAMED.test(type) || announced > limits.keptBytes) return { kind: 'stream', status, headers, body, trailers }
  const chunks: Buffer[] = []
  const ended = await collect(body, chunks, limits.keptBytes, announced > 0 ? limits.wholeMs : limits.gatherMs)
  if (ended) return { kind: 'whole', status, headers, body: Buffer.concat(chunks), trailers }
  return { kind: 'stream', status, headers, body: continued(chunks, body), trailers }
}

const STREAMED = /^\s*(text\/event-stream|application\/(x-ndjson|jsonl|grpc))/i

/** True when the body has ended; false when more is to come. */
function collect(body: Readable, chunks: Buffer[], most: number, patienceMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    const leave = (ended: boolean): void => {
      stop()
      body.pause()
      resolve(ended)
    }
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > most) leave(false)
    }
    const onEnd = (): void => {
      leave(true)
    }
    const onError = (error: Error): void => {
      stop()
      reject(error)
    }
    const onClose = (): void => {
      onError(brokenOff())
    }
    const timer = setTimeout(leave, patienceMs, false)
    const stop = (): void => {
      clearTimeout(timer)
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
    }
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

function brokenOff(): Error {
  return new Error('the answer broke off')
}

function continued(chunks: readonly Buffer[], rest: Readable): Readable {
  const whole = new PassThrough()
  for (const chunk of chunks) whole.write(chunk)
  // The stream may break off while its payment settles, before it has a reader. The later reader then finds it
  // destroyed.
  whole.on('error', () => undefined)
  rest.on('error', (error) => whole.destroy(error))
  whole.on('close', () => rest.destroy())
  rest.pipe(whole)
  return whole
}

/** Destroys an unused body: dropping its connection is cheaper than reading it to the end. */
export function discard(answer: { body: Readable | Buffer | null }): void {
  if (answer.body !== null && !Buffer.isBuffer(answer.body)) answer.body.on('error', () => undefined).destroy()
}
