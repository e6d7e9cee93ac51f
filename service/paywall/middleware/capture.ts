import type { ServerResponse } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import type { HeaderList, UpstreamAnswer } from '../model.ts'

export interface Captured {
  /** Resolves with the first byte or the end, whichever comes first. */
  answer: Promise<UpstreamAnswer>
  /** Where the actual answer goes, since the handler may still be writing to its own response. */
  wire: Writable
  /** Removes the headers that the handler has set, so that the actual answer can be sent. */
  reset(): void
}

/**
 * Captures what a handler writes to its response, so that it can be paid for before it is sent. As on a real response,
 * headers are final once the answer has begun, and a handler that fails after that destroys the answer: it is not sold.
 */
export function capture(response: ServerResponse): Captured {
  const own = {
    write: response.write.bind(response),
    end: response.end.bind(response),
    writeHead: response.writeHead.bind(response),
    flushHeaders: response.flushHeaders.bind(response),
    setHeader: response.setHeader.bind(response),
    destroy: response.destroy.bind(response),
  }
  const before = response.getHeaders()
  const body = new PassThrough()
  body.on('drain', () => response.emit('drain'))
  // An unused body gets destroyed while the handler may still be writing to it.
  body.on('error', () => undefined)
  let begun: number | null = null
  let begin: () => void = () => undefined
  const answer = new Promise<UpstreamAnswer>((resolve) => {
    begin = () => {
      begun ??= response.statusCode
      resolve({ status: begun, headers: listed(response.getHeaders()), body, trailers: () => ({}), tunnel: null })
    }
  })
  const breakOff = (error?: Error): void => {
    begin()
    body.destroy(error ?? new Error('the handler broke its answer off'))
  }
  // The default error handler destroys the connection, which the buyer's answer still needs.
  const { req: request } = response
  request.socket = new Proxy(request.socket, {
    get(socket, name) {
      if (name === 'destroy') return breakOff
      const value: unknown = Reflect.get(socket, name)
      return typeof value === 'function' ? (value.bind(socket) as unknown) : value
    },
  })

  Object.defineProperty(response, 'headersSent', {
    configurable: true,
    get: () => begun !== null || response.writableEnded,
  })
  Object.assign(response, {
    setHeader(name: string, value: string | number | readonly string[]) {
      if (begun !== null) throw headersSent()
      return own.setHeader(name, value)
    },
    destroy(error?: Error) {
      breakOff(error)
      return response
    },
    writeHead(status: number, ...rest: unknown[]) {
      if (begun !== null && begun !== status) throw headersSent()
      response.statusCode = status
      const headers = rest.find((part) => typeof part === 'object' && part !== null)
      for (const [name, value] of pairsOf(headers)) response.setHeader(name, value)
      begin()
      return response
    },
    flushHeaders: begin,
    write(chunk: unknown, ...rest: [never, never]) {
      begin()
      return body.write(chunk, ...rest)
    },
    end(...given: unknown[]) {
      begin()
      const [chunk, encoding] = given.filter((part) => typeof part !== 'function')
      const done = given.find((part) => typeof part === 'function') as (() => void) | undefined
      if (chunk !== undefined && chunk !== null) body.write(chunk, (encoding ?? 'utf8') as BufferEncoding)
      body.end(done)
      return response
    },
  })

  return {
    answer,
    wire: new Writable({
      write(chunk: Buffer, _encoding, done) {
        own.write(chunk, done)
      },
      final(done) {
        own.end(done)
      },
      destroy(error, done) {
        if (error !== null || !response.writableEnded) own.destroy(error ?? undefined)
        done(error)
      },
    }),
    reset() {
      const { writeHead, flushHeaders, setHeader } = own
      Object.assign(response, { writeHead, flushHeaders, setHeader })
      for (const name of response.getHeaderNames()) response.removeHeader(name)
      for (const [name, value] of Object.entries(before)) if (value !== undefined) response.setHeader(name, value)
    },
  }
}

function headersSent(): Error {
  return Object.assign(new Error('Cannot set headers after they are sent'), { code: 'ERR_HTTP_HEADERS_SENT' })
}

function pairsOf(headers: unknown): [string, string | number | string[]][] {
  if (Array.isArray(headers)) {
    const flat = headers.flat() as string[]
    return Array.from({ length: flat.length / 2 }, (_, place) => [flat[2 * place] ?? '', flat[2 * place + 1] ?? ''])
  }
  return Object.entries((headers ?? {}) as Record<string, string>)
}

function listed(headers: ReturnType<ServerResponse['getHeaders']>): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one): [string, string][] =>
      one === undefined ? [] : [[name, String(one)]],
    ),
  )
}
