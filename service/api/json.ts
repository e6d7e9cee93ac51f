import type { Request } from 'express'
import { DomainError, invalid } from '../kit/errors.ts'
import { readJson } from '../kit/json.ts'

/** The JSON in a request's body, or undefined when it has none. */
export function jsonOf(request: Request, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json' && type?.endsWith('+json') !== true) {
    throw new DomainError('unsupported', 'unsupported_media_type', 'The body must be application/json.', {
      details: { 'content-type': 'must be application/json' },
    })
  }
  return parseJson(bytes)
}

export function parseJson(bytes: Buffer): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid({ body: 'must be UTF-8' }, 'invalid_json')
  }
  return readJson(text)
}

/** The raw bytes of a request's body. */
export async function readBody(request: Request, bytesMax: number): Promise<Buffer> {
  refuseEncoding(request)
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
  // After its `close` no event comes any more.
  if (request.destroyed) throw bodyUnfinished()
  return await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    // Listeners, not `for await`: an iterator costs a small request more than its parsing does.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= bytesMax) chunks.push(chunk)
      else {
        request.pause()
        reject(bodyTooLarge(bytesMax))
      }
    })
    let isWhole = false
    request.once('end', () => {
      isWhole = true
      resolve(Buffer.concat(chunks))
    })
    request.once('error', reject)
    request.once('close', () => {
      // It also comes after the end, where an error would be made for nothing.
      if (!isWhole) reject(bodyUnfinished())
    })
  })
}

export function refuseEncoding(request: Request): void {
  const encoding = request.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw new DomainError('unsupported', 'unsupported_encoding', 'The body must not be compressed.', {
    details: { 'content-encoding': 'must be absent' },
  })
}

export function bodyTooLarge(bytesMax: number): DomainError {
  return new DomainError('too-large', 'body_too_large', `The body must have at most ${String(bytesMax)} bytes.`, {
    details: { body: `must have at most ${String(bytesMax)} bytes` },
  })
}

export function bodyUnfinished(): DomainError {
  return new DomainError('invalid', 'bad_request', 'The body ended before it was complete.')
}
