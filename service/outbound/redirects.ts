import { DomainError } from '../kit/errors.ts'
import { toTarget } from './addresses.ts'
import { redirectRefused } from './errors.ts'
import type { Policy } from './model.ts'

/** One request of a call. Each redirect adds one. */
export interface Step {
  /** The host that the caller gave. Error messages name it even after a redirect. */
  readonly host: string
  readonly target: URL
  readonly method: string
  /** Only the caller's own headers. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

export function isRedirect(status: number, location: unknown): location is string {
  return REDIRECTS.has(status) && typeof location === 'string'
}

/**
 * The request that a redirect leads to, checked like the first one. The caller's headers and body are meant for the
 * original origin. For another origin all of the caller's headers are dropped, and a request with a body is refused,
 * because without its headers the body would arrive unsigned and untyped.
 */
export function follow(step: Step, status: number, location: string, policy: Policy): Step {
  const { host, target } = step
  const refuse = (why: string) => redirectRefused(host, status, why)
  if (!URL.canParse(location, target.href)) throw refuse('its location is not a URL')
  const next = toNext(new URL(location, target), step, status, policy)
  if (target.protocol === 'https:' && next.protocol === 'http:') throw refuse('it leads from https to http')

  const { method, body } = becomesGet(status, step.method) ? { method: 'GET', body: undefined } : step
  const stays = next.origin === target.origin
  if (!stays && body !== undefined) throw refuse('it would send the body to another origin')
  return {
    host,
    target: next,
    method,
    body,
    headers: stays && body === step.body ? step.headers : remainingHeaders(step, stays),
  }
}

/** When a redirect leads to a refused address, the error blames the redirect: the caller never gave that address. */
export function ledAstray(error: unknown, step: Step, status: number): unknown {
  if (!(error instanceof DomainError) || !error.code.startsWith('address_')) return error
  return redirectRefused(step.host, status, 'it leads to an address that cannot be called', error)
}

function toNext(url: URL, step: Step, status: number, policy: Policy): URL {
  try {
    return toTarget(url, policy)
  } catch (error) {
    throw ledAstray(error, step, status)
  }
}

function remainingHeaders(step: Step, stays: boolean): Step['headers'] {
  if (!stays) return {}
  return Object.fromEntries(Object.entries(step.headers).filter(([name]) => !/^content-/i.test(name)))
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
