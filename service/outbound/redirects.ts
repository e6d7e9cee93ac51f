import { DomainError } from '../kit/errors.ts'
import { toTarget } from './addresses.ts'
import { redirectRefused } from './errors.ts'
import type { Policy } from './model.ts'

/** One request of a call; a redirect makes another. */
export interface Step {
  /** As the caller gave it: error sentences name this one, even after a redirect. */
  readonly host: string
  readonly target: URL
  readonly method: string
  /** Only what the caller gave. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

export function isRedirect(status: number, location: unknown): location is string {
  return REDIRECTS.has(status) && typeof location === 'string'
}

/**
 * The request that a redirect asks for, checked like a first one. What the caller gave belongs to the origin
 * it was given for: on another one all of its headers are dropped, and a body is not carried there at all,
 * since without its headers it would arrive unsigned and untyped.
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

/** A refused address behind a redirect is the redirect's fault; the caller never gave that address. */
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
