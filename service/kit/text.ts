/*
 * What an expression like `/0+$/` is used for. Such an expression tries again from each character of a run that is not
 * at the end, so its time grows with the square of the text; these look at each character once.
 */

/** The text without this character at its end, however often it stands there. */
export function withoutTrailing(text: string, character: string): string {
  return text.slice(0, startOfRun(text, character))
}

/** The same at both ends. */
export function withoutSurrounding(text: string, character: string): string {
  const end = startOfRun(text, character)
  return text.slice(Math.min(endOfRun(text, character), end), end)
}

/** Where the run of this character begins that the text ends with; the text's length where there is none. */
export function startOfRun(text: string, character: string): number {
  let at = text.length
  while (at > 0 && text.charAt(at - 1) === character) at--
  return at
}

/** Where the run of this character ends that the text begins with. */
export function endOfRun(text: string, character: string): number {
  let at = 0
  while (at < text.length && text.charAt(at) === character) at++
  return at
}

/**
 * One line that reads as it was written: no control character, no other end of a line, and nothing that turns the
 * direction of what follows, by which a name or an address looks like another one.
 */
export const ONE_LINE = /^[^\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u

/** `https://` before a host alone, like `example.com`; a text with a scheme is left as it is. */
export function withScheme(text: string): string {
  return BARE_HOST.test(text) ? `https://${text}` : text
}

/**
 * A host of two names at least, whose last begins with a letter, since 1.5 is a number; then nothing, a port, a path, a
 * query or a fragment.
 */
const BARE_HOST =
  /^[\p{L}\p{N}][\p{L}\p{N}-]{0,62}(?:\.[\p{L}\p{N}-]{1,63}){0,9}\.\p{L}[\p{L}\p{N}-]{0,62}(?::\d{1,5})?(?:[/?#]\S*)?$/u
