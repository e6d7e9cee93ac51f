import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { DomainError } from '../../kit/errors.ts'
import { tooLarge } from '../errors.ts'

/**
 * What a payment is bound to: the raw bytes of the body if nothing has read them yet, else the parsed body. The bytes
 * are read only on demand, so that a client that has not paid cannot fill the memory.
 */
export function bodyOf(request: IncomingMessage & { body?: unknown }, most: number): Readable | null {
  if (isUnread(request)) {
    return Readable.from(
      (async function* () {
        yield await bytesOf(request, most)
      })(),
    )
  }
  return request.body === undefined ? null : Readable.from([Buffer.from(JSON.stringify(request.body))])
}

/** A parser may set an empty object for a body whose type it does not handle, without reading it. */
function isUnread(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return !request.readableDidRead && (encoding !== undefined || Number(length ?? 0) > 0)
}

/**
 * Reads the whole body and puts it back for the next reader. This must happen synchronously in the listener: the stream
 * ends as soon as there is nothing left to read, and after that nothing can be put back.
 */
function bytesOf(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const end = (act: () => void): void => {
      request.off('readable', read).off('close', gone).off('error', gone)
      act()
    }
    const gone = (): void => {
      end(() => reject(new DomainError('late', 'client_gone', 'The client hung up.')))
    }
    function read(): void {
      for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read() as Buffer | null) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > most) {
          end(() => reject(tooLarge(most)))
          return
        }
      }
      if (!request.complete) return
      const whole = Buffer.concat(chunks)
      request.unshift(whole)
      end(() => resolve(whole))
    }
    request.on('readable', read).on('close', gone).on('error', gone)
  })
}
