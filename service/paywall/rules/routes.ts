import { pathRefused } from '../errors.ts'
import type { Route } from '../model.ts'

/*
 * Matches a request to its route. An upstream may interpret a path more loosely than it was written, and a spelling of
 * a paid path that does not match here would bypass the price. So ambiguous paths are refused, and case, a trailing
 * slash and matrix parameters make no difference.
 */

/** The segments of a path for comparison; throws if an upstream could read it as another path. */
export function segmentsOf(path: string): string[] {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#]/.test(path)) {
    // Some servers cut off what follows a `#`, others keep it.
    throw pathRefused('must have visible ASCII characters only, and no \\ or #')
  }
  const parts = path.slice(1).split('/')
  if (parts.at(-1) === '') parts.pop()
  return parts.map((part) => {
    const segment = decoded(part).split(';')[0] ?? ''
    if (segment === '') throw pathRefused('must have no empty segments')
    if (segment === '.' || segment === '..') throw pathRefused('must have no dot segments')
    if (FORBIDDEN.test(segment)) throw pathRefused('must have no encoded slashes or control characters')
    return segment.toLowerCase()
  })
}

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const FORBIDDEN = /[/\\\0-\x1f\x7f]/

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw pathRefused('must be percent-encoded UTF-8')
  }
}

/** The first match. HEAD matches like GET, since it describes the same resource. */
export function routeOf(routes: readonly Route[], method: string, segments: readonly string[]): Route | null {
  const asked = method === 'HEAD' ? 'GET' : method
  return routes.find((route) => fitsMethod(route, method, asked) && fitsPath(patternOf(route.path), segments)) ?? null
}

function fitsMethod({ method }: Route, ...asked: string[]): boolean {
  return method === '*' || asked.includes(method)
}

/** Whether any method has a price at this path. */
export function isPriced(routes: readonly Route[], segments: readonly string[]): boolean {
  return routes.some(({ path }) => fitsPath(patternOf(path), segments))
}

/** The key of a route within its paywall; a change of the terms keeps it. */
export function keyOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** The fault of a pattern; null when there is none. */
export function faultOfPattern(path: string): string | null {
  if (!/^\/[\x21-\x7e]*$/.test(path) || path.length > 500)
    return 'must begin with / and have visible ASCII characters only'
  const parts = path.slice(1).split('/')
  if (parts.at(-1) === '') parts.pop()
  for (const [place, part] of parts.entries()) {
    if (part === '*') {
      if (place < parts.length - 1) return 'may have * as its last segment only'
    } else if (part.startsWith(':')) {
      if (!/^:[A-Za-z]\w{0,63}$/.test(part)) return 'must have names like :id'
    } else if (part === '' || part === '.' || part === '..') return 'must have no empty and no dot segments'
    else if (/[?#*;\\%]/.test(part)) return 'must have no ? # ; % \\ and * as a whole segment only'
  }
  return null
}

/** The first route that no request can reach, because an earlier route matches all of its requests. */
export function hiddenRoute(routes: readonly Route[]): { place: number; by: number } | null {
  for (const [place, route] of routes.entries()) {
    const by = routes.slice(0, place).findIndex((before) => covers(before, route))
    if (by >= 0) return { place, by }
  }
  return null
}

function covers(before: Route, route: Route): boolean {
  if (before.method !== '*' && before.method !== route.method) return false
  const wide = patternOf(before.path)
  const narrow = patternOf(route.path)
  for (const [place, part] of wide.entries()) {
    if (part === '*') return true
    const other = narrow[place]
    if (other === undefined || other === '*') return false
    if (!part.startsWith(':') && part !== other) return false
  }
  return narrow.length === wide.length
}

function fitsPath(pattern: readonly string[], segments: readonly string[]): boolean {
  for (const [place, part] of pattern.entries()) {
    if (part === '*') return true
    const segment = segments[place]
    if (segment === undefined || (!part.startsWith(':') && part !== segment)) return false
  }
  return segments.length === pattern.length
}

function patternOf(path: string): readonly string[] {
  let pattern = patterns.get(path)
  if (pattern === undefined) {
    const parts = path.slice(1).split('/')
    if (parts.at(-1) === '') parts.pop()
    pattern = parts.map((part) => (part.startsWith(':') ? part : part.toLowerCase()))
    if (patterns.size >= REMEMBERED) patterns.clear()
    patterns.set(path, pattern)
  }
  return pattern
}

/** A cache, because parsing a pattern costs more than comparing it. */
const patterns = new Map<string, readonly string[]>()
const REMEMBERED = 10_000
