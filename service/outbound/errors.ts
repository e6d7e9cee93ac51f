import { DomainError } from '../kit/errors.ts'

/*
 * The messages name only the host that the caller gave. Addresses, resolver answers and system errors stay in `cause`,
 * for the log.
 */

export function addressRefused(host: string, why: string, cause?: unknown): DomainError {
  return new DomainError('invalid', 'address_refused', `${capital(host)} cannot be called: ${why}.`).causedBy(cause)
}

/** When an address is saved this is the caller's mistake, during a call it is the other side's outage. */
export function addressUnresolvable(host: string, kind: 'invalid' | 'upstream', cause?: unknown): DomainError {
  return new DomainError(kind, 'address_unresolvable', `The host ${host} was not found.`).causedBy(cause)
}

export function headerRefused(name: string, why: string): DomainError {
  return new DomainError('invalid', 'header_refused', `The header ${JSON.stringify(name)} ${why}.`, { header: name })
}

export function methodRefused(method: string): DomainError {
  return new DomainError('invalid', 'method_refused', `The method ${JSON.stringify(method)} is not allowed.`)
}

export function redirectRefused(host: string, status: number, why: string, cause?: unknown): DomainError {
  const sentence = `${host} answered with a redirect that cannot be followed: ${why}.`
  return new DomainError('upstream', 'redirect_refused', sentence, { status }).causedBy(cause)
}

export function responseTooLarge(host: string, bytes: number): DomainError {
  const sentence = `${host} answered with more than ${String(bytes)} bytes.`
  return new DomainError('upstream', 'response_too_large', sentence, { limit: bytes })
}

export function responseUndecodable(host: string, cause?: unknown): DomainError {
  const sentence = `${host} answered with a content encoding that could not be decoded.`
  return new DomainError('upstream', 'response_undecodable', sentence).causedBy(cause)
}

export function responseTimeout(host: string, cause?: unknown): DomainError {
  return new DomainError('late', 'response_timeout', `${host} did not answer in time.`).causedBy(cause)
}

/** An error of undici, the network or zlib as one of this folder's codes. */
export function explain(error: unknown, host: string): DomainError {
  if (error instanceof DomainError) return error
  const code = codeOf(error)
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return new DomainError('late', 'connect_timeout', `The connection to ${host} timed out.`).causedBy(error)
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return responseTimeout(host, error)
    case 'UND_ERR_HEADERS_OVERFLOW': {
      const sentence = `${host} answered with headers that are too large.`
      return new DomainError('upstream', 'response_too_large', sentence).causedBy(error)
    }
  }
  // The codes of zlib, and those of brotli, which Node spells as ERR_, two underscores and the decoder's text.
  if (/^Z_|^ERR_+(BROTLI|ERROR_FORMAT|DECODER)/.test(code)) return responseUndecodable(host, error)
  if (isMalformed(error) || code.startsWith('UND_ERR_RES')) {
    // Only the message: undici attaches the received bytes to the error, and they must not be logged.
    const cause = new Error(error instanceof Error ? error.message : code)
    return new DomainError('upstream', 'response_invalid', `${host} did not answer with valid HTTP.`).causedBy(cause)
  }
  if (/CERT|^UNABLE_TO_|^ERR_TLS_/.test(code)) {
    const sentence = `The certificate of ${host} could not be verified.`
    return new DomainError('upstream', 'certificate_refused', sentence).causedBy(error)
  }
  const sentence = `The connection to ${host} failed.`
  return new DomainError('upstream', 'connection_failed', sentence).causedBy(error)
}

/** By name, because undici leaves the code of its parser's errors empty. */
function isMalformed(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError'
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

function capital(text: string): string {
  return text === 'the address' ? 'The address' : text
}
