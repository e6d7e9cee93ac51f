/** Checks the shape of a JSON text before it is parsed. Null when nothing is wrong. */
export function faultOfJsonShape(text: string): string | null {
  const shape = shapeOf(text)
  return typeof shape === 'string' ? shape : null
}

/** The value of a JSON text; undefined when it is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Real documents nest about thirty levels deep. */
const DEPTH_MAX = 128
/** The longest double, written out in full, has about this many digits. */
const NUMBER_LENGTH_MAX = 1_100
/** JavaScript holds a number of fewer characters and without an exponent exactly. */
const EXACT_LENGTH = 15

/** Reads the text once, from its first character to its last, whether it is JSON or not. */
export function shapeOf(text: string): { mayRound: boolean } | string {
  let depth = 0
  let mayRound = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > DEPTH_MAX) return `is nested too deeply: at most ${String(DEPTH_MAX)} levels are allowed`
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
    else if (isDigit(code)) {
      const end = endOfNumber(text, at)
      if (end - at > NUMBER_LENGTH_MAX) {
        return `must have numbers of at most ${String(NUMBER_LENGTH_MAX)} characters`
      }
      if (end - at > EXACT_LENGTH || text.slice(at, end).toLowerCase().includes('e')) mayRound = true
      at = end - 1
    }
  }
  return { mayRound }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** The position of the closing quote, or the end of the text. A quote behind an odd number of backslashes is escaped. */
function endOfString(text: string, start: number): number {
  let quote = start
  for (;;) {
    // Payments are mostly long texts without a backslash, so the search for the quote is left to the engine.
    quote = text.indexOf('"', quote + 1)
    if (quote === -1) return text.length
    let before = quote
    while (before - 1 > start && text.charCodeAt(before - 1) === BACKSLASH) before--
    if ((quote - before) % 2 === 0) return quote
  }
}

function endOfNumber(text: string, start: number): number {
  let at = start
  while (isDigit(text.charCodeAt(at)) || '.eE+-'.includes(text.charAt(at) || ' ')) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
