import type { Request } from 'express'
import { parse } from 'lossless-json'
import { DomainError, invalid } from '../kit/errors.ts'

/**
 * A number that JavaScript cannot hold as it was written, like 1.0000000000000001. It is an object, so every
 * schema that wants a number refuses it instead of rounding it; in free-form data it still serialises.
 */
class InexactNumber extends Number {}

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
  try {
    const value: unknown = JSON.parse(text)
    // Only a literal of 16 digits and more can lose something; nearly no body has one.
    if (!LONG_NUMBER.test(text)) return value
    return parse(text, null, { parseNumber })
  } catch {
    throw invalid({ body: 'must be JSON' }, 'invalid_json')
  }
}

// Where a number may stand, so that the digits of a signature or a hash are not taken for one.
const LONG_NUMBER = /(?:^|[:,[\s])-?\d(?:[\d.]{15,}|[\d.]*[eE])/

function parseNumber(literal: string): number | InexactNumber {
  const value = Number(literal)
  return sameNumber(literal, String(value)) ? value : new InexactNumber(value)
}

/** Whether two decimal literals say the same number, digit for digit. */
function sameNumber(a: string, b: string): boolean {
  const left = normalise(a)
  const right = normalise(b)
  return left !== null && right !== null && left.digits === right.digits && left.exponent === right.exponent
}

function normalise(literal: string): { digits: string; exponent: number } | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', power = '0'] = match
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  if (digits === '') return { digits: '0', exponent: 0 }
  return { digits: sign + digits, exponent: Number(power) - fraction.length + (all.length - digits.length) }
}

/** The bytes of a request's body, as they came. */
export async function readBody(request: Request, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new DomainError('unsupported', 'unsupported_encoding', 'The body must not be compressed.', {
      details: { 'content-encoding': 'must be absent' },
    })
  }
  const tooLarge = (): DomainError =>
    new DomainError('too-large', 'body_too_large', `The body must have at most ${String(bytesMax)} bytes.`, {
      details: { body: `must have at most ${String(bytesMax)} bytes` },
    })
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  return await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    // Listeners, not `for await`: an iterator costs a small request more than its parsing does.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= bytesMax) chunks.push(chunk)
      else {
        request.pause()
        reject(tooLarge())
      }
    })
    request.once('end', () => {
      resolve(Buffer.concat(chunks))
    })
    request.once('error', reject)
    request.once('close', () => {
      reject(new DomainError('invalid', 'bad_request', 'The body ended before it was complete.'))
    })
  })
}
