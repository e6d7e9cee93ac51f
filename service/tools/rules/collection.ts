import { invalid } from '../../kit/errors.ts'
import type { Collection, Operation } from '../model/draft.ts'

/** Whether a slug belongs to a collection: it fits a pattern, and none of those that begin with `!`. */
export function fits(patterns: readonly string[], slug: string): boolean {
  return (
    patterns.some((pattern) => !pattern.startsWith('!') && fitsOne(pattern, slug)) &&
    !patterns.some((pattern) => pattern.startsWith('!') && fitsOne(pattern.slice(1), slug))
  )
}

export function patternFault(pattern: string): string | null {
  return /^!?[a-z0-9*]+(-[a-z0-9*]+)*$/.test(pattern) && pattern.length <= 100
    ? null
    : 'must be a slug, with * for any text and ! before what is left out'
}

/** `*` matches any text. The pieces between are searched in order, so the time is linear for every pattern. */
function fitsOne(pattern: string, slug: string): boolean {
  const [first = '', ...pieces] = pattern.split('*')
  const last = pieces.pop()
  if (last === undefined) return slug === first
  if (!slug.startsWith(first)) return false
  let at = first.length
  for (const piece of pieces) {
    const found = slug.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return slug.length - last.length >= at && slug.endsWith(last)
}

/** Refuses a collection whose slug is not usable, or that would be empty. */
export function checkCollection({ slug, patterns }: Collection): void {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) || slug.length > 64)
    throw invalid({ slug: 'must be words of lower-case letters and digits with hyphens, at most 64 characters' })
  if (patterns.length === 0 || patterns.length > 100) throw invalid({ patterns: 'must list 1 to 100 patterns' })
  for (const pattern of patterns) {
    const fault = patternFault(pattern)
    if (fault !== null) throw invalid({ patterns: `${pattern}: ${fault}` })
  }
}

/** Which of a document's operations become tools: those that fit any of these. */
export interface Offered {
  /** Names of operations, with `*` for any text. */
  readonly operations?: readonly string[]
  /** Beginnings of paths. */
  readonly paths?: readonly string[]
  /** What operations are filed under, in lower case. */
  readonly categories?: readonly string[]
}

/** The operations that are offered, and how many are not. */
export function offeredOf(
  operations: readonly Operation[],
  offered: Offered | null,
): { offered: readonly Operation[]; others: number } {
  if (offered === null) return { offered: operations, others: 0 }
  const { operations: names = [], paths = [], categories = [] } = offered
  const wanted = operations.filter(({ operation, category, upstream }) => {
    if (names.some((name) => fitsOne(name, operation))) return true
    if (category !== null && categories.includes(category)) return true
    return upstream.kind === 'http' && paths.some((path) => upstream.path.startsWith(path))
  })
  return { offered: wanted, others: operations.length - wanted.length }
}
