import type { Patterns } from '../model.ts'

/**
 * Whether a text is what the pattern means, `*` being any text, also none. Upper and lower case are the same: slugs and
 * hosts have none, and a rule that a person wrote as `GitHub-*` is meant. The fixed pieces are looked for one
 * after the other, each at its first place behind the one before: there is no way back, so a pattern of a
 * thousand stars takes no longer than a plain one.
 */
export function matches(pattern: string, text: string): boolean {
  return matchesExactly(pattern.toLowerCase(), text.toLowerCase())
}

function matchesExactly(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === text
  const last = rest.pop() ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let from = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, from)
    if (found === -1 || found + piece.length > end) return false
    from = found + piece.length
  }
  return true
}

/** The pattern that denies these names of one thing, the missing permission, or null when it is allowed. */
export function denial(
  patterns: Patterns,
  names: readonly string[],
): { by: 'allow' | 'deny'; pattern: string | null } | null {
  const denied = patterns.deny.find((pattern) => names.some((name) => matches(pattern, name)))
  if (denied !== undefined) return { by: 'deny', pattern: denied }
  if (patterns.allow === null) return null
  return patterns.allow.some((pattern) => names.some((name) => matches(pattern, name)))
    ? null
    : { by: 'allow', pattern: null }
}

/** Whether everything that the narrower one means is meant by the wider one as well: true only where that is certain. */
export function covers(wider: string, narrower: string): boolean {
  // A star stands for itself: what matches the narrower one's own text matches any text that fills its stars.
  return matches(wider, narrower)
}
