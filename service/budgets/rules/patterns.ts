import type { Patterns } from '../model.ts'

/**
 * Whether a text matches the pattern, where `*` stands for any text, also an empty one. Case does not matter: slugs and
 * hosts are lower case, and a person's rule `GitHub-*` should match them. The fixed pieces are searched one after the
 * other, each at its first place behind the previous one. There is no backtracking, so a pattern of a thousand stars
 * takes no longer than a plain one.
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

/** Why one target with these names is denied: the denying pattern, or a missing permission; null when it is allowed. */
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

/** Whether the wider pattern matches everything that the narrower one matches: true only if that is certain. */
export function covers(wider: string, narrower: string): boolean {
  // A star is taken as a literal character: a pattern that matches the narrower pattern's own text matches any text
  // that fills its stars.
  return matches(wider, narrower)
}
