/*
 * These functions replace expressions like `/0+$/`. Such an expression starts again at each character of a run that is
 * not at the end, so its time grows with the square of the text. These functions read each character once.
 */

/** The text without the trailing repetitions of this character. */
export function withoutTrailing(text: string, character: string): string {
  return text.slice(0, startOfRun(text, character))
}

/** The same for both ends of the text. */
export function withoutSurrounding(text: string, character: string): string {
  const end = startOfRun(text, character)
  return text.slice(Math.min(endOfRun(text, character), end), end)
}

/** The start of the run of this character at the end of the text. The text's length when there is none. */
export function startOfRun(text: string, character: string): number {
  let at = text.length
  while (at > 0 && text.charAt(at - 1) === character) at--
  return at
}

/** The end of the run of this character at the start of the text. */
export function endOfRun(text: string, character: string): number {
  let at = 0
  while (at < text.length && text.charAt(at) === character) at++
  return at
}

/**
 * One line that is displayed as it was written: no control character, no other line separator, and no character that
 * changes the text direction and so makes a name or an address look like another one.
 */
export const ONE_LINE = /^[^\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u

/** Adds `https://` to a bare host like `example.com`. A text with a scheme stays as it is. */
export function withScheme(text: string): string {
  return BARE_HOST.test(text) ? `https://${text}` : text
}

/**
 * A host of at least two names, the last of which begins with a letter, because 1.5 is a number. After it comes
 * nothing, a port, a path, a query or a fragment.
 */
const BARE_HOST =
  /^[\p{L}\p{N}][\p{L}\p{N}-]{0,62}(?:\.[\p{L}\p{N}-]{1,63}){0,9}\.\p{L}[\p{L}\p{N}-]{0,62}(?::\d{1,5})?(?:[/?#]\S*)?$/u

/** A stranger's words in a mail of ours: no mail program makes a link of an address in them. */
export function withoutLinks(text: string): string {
  return text
    .replaceAll(/[^\P{C}\n]/gu, '')
    .replaceAll('.', '.\u200b')
    .replaceAll('@', '@\u200b')
}
