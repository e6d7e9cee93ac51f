/** The parameters of one challenge as they arrived, names in lower case. */
export type ReceivedChallenge = Readonly<Record<string, string>>

/**
 * The challenges of one scheme in `WWW-Authenticate`: in one field or in several, between challenges of other schemes.
 * What cannot be read is ignored. Takes one pass, because the text comes from servers that callers name.
 */
export function readChallenges(fields: unknown, scheme: string): ReceivedChallenge[] {
  const texts = (Array.isArray(fields) ? fields : [fields]).filter((field) => typeof field === 'string')
  if (texts.reduce((sum, { length }) => sum + length, 0) > LENGTH_MAX) return []
  return texts.flatMap((text) => challengesIn(text, scheme)).slice(0, CHALLENGES_MAX)
}

function challengesIn(field: string, wanted: string): ReceivedChallenge[] {
  const found: Map<string, string>[] = []
  let open: Map<string, string> | null = null
  for (const item of itemsOf(field)) {
    const parameter = PARAMETER.exec(item)
    const scheme = parameter === null ? item : parameter[1]
    // A scheme without parameters, or one with a token, also ends the challenge before it.
    if (scheme !== undefined) open = null
    if (scheme?.toLowerCase() === wanted) {
      open = new Map()
      found.push(open)
    }
    if (parameter === null || open === null) continue
    const name = (parameter[2] ?? '').toLowerCase()
    const value = valueOf(item.slice(parameter[0].length))
    // A challenge that cannot be repeated exactly cannot be answered.
    if (value === null || open.has(name)) {
      found.pop()
      open = null
    } else open.set(name, value)
  }
  return found.map((challenge) => Object.fromEntries(challenge))
}

/** The parts between commas; a comma inside quotes separates nothing. */
function itemsOf(field: string): string[] {
  const items: string[] = []
  let start = 0
  let isQuoted = false
  for (let place = 0; place <= field.length; place++) {
    const character = field[place]
    if (isQuoted && character === '\\') place++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === undefined || (character === ',' && !isQuoted)) {
      const item = field.slice(start, place).trim()
      if (item !== '') items.push(item)
      start = place + 1
    }
  }
  return items
}

/** A scheme, where the item begins a challenge, and the name of a parameter. */
const PARAMETER = /^(?:([!#$%&'*+.^_`|~\w-]+)[ \t]+)?([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*/

/** Null for a value that is neither a token nor one quoted string. */
function valueOf(text: string): string | null {
  if (!text.startsWith('"')) return TOKEN.test(text) ? text : null
  if (!QUOTED.test(text)) return null
  return text.slice(1, -1).replace(ESCAPE, (_, code: string | undefined, character: string | undefined) => {
    return code === undefined ? (character ?? '') : String.fromCharCode(parseInt(code, 16))
  })
}

const TOKEN = /^[!#$%&'*+.^_`|~\w/=:-]+$/
const QUOTED = /^"(?:[^"\\]|\\[^])*"$/
/** Servers write characters that no header may contain as \uXXXX. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([^]))/g

const LENGTH_MAX = 65_536
const CHALLENGES_MAX = 20
