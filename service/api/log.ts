import { pino, type DestinationStream, type Logger } from 'pino'
import { currentContext } from '../kit/context.ts'
import { literal } from '../kit/pattern.ts'

/**
 * JSON lines, each with the ids of the objects it concerns. Anything that is or looks like a secret is cut out of the
 * finished line, wherever it is: in a field, deep inside one, in an error message or in a stack. `known` are secrets
 * without a recognisable form, such as a password from the settings or a private key, which looks like any transaction
 * hash.
 */
export function createLog(level: string, known: readonly string[] = [], to?: DestinationStream): Logger {
  const clean = cleaner(known)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // A copy, because pino writes the line's own fields into the object it gets.
    mixin: () => ({ ...currentContext()?.tags }),
    hooks: { streamWrite: clean },
  }
  return to === undefined ? pino(options) : pino(options, to)
}

/** Built once per log: one pass for the names and forms, one for the known secrets. */
export function cleaner(known: readonly string[]): (line: string) => string {
  const secrets = [...new Set(known)].filter((secret) => secret.length >= SHORTEST).flatMap(asWritten)
  // The longest first, because one secret may begin with another.
  const exact = secrets.sort((a, b) => b.length - a.length).map(literal)
  const knownOnes = exact.length === 0 ? null : new RegExp(exact.join('|'), 'g')
  return (line) => {
    const clear = knownOnes === null ? line : line.replace(knownOnes, CUT)
    const plain = clear.replace(NAMED, `$1"${CUT}"`).replace(JSON_WEB_TOKEN, cutToken).replace(FORMS, CUT)
    // Most lines have no address, and this search is the slowest.
    return plain.includes('@') ? plain.replace(ADDRESSES, masked) : plain
  }
}

const CUT = '[redacted]'
/** A shorter secret would also match ordinary words, and is too short to be secret at all. */
const SHORTEST = 8

/** `"name":value` at any depth of the line, the value a text or a list of texts. */
const NAMED = new RegExp(
  `("(?:${[
    '(?:proxy-)?authorization',
    '(?:set-)?cookie',
    'pass(?:word|phrase)?',
    '[a-z]*secrets?',
    '(?:access|refresh|session|id|bearer)?_?token',
    'x-payment(?:-token|-signature)?',
    'payment-signature',
    '(?:api|private|vault|signing|secret)[-_]?keys?',
    'key',
    'seed',
    'mnemonic',
    'signature',
    'xprv',
    'code_?verifier',
  ].join('|')})":)(?:"(?:[^"\\\\]|\\\\.)*"|\\[(?:"(?:[^"\\\\]|\\\\.)*",?)*\\])`,
  'gi',
)

/** The forms of our secrets and of other services' secrets, wherever they are in the line. */
const FORMS = new RegExp(
  [
    // API keys, tokens of MCP clients, signing secrets, extended private keys. No word boundary: in JSON a new line ends with the letter n.
    '(?:csk_(?:live|test)_|whsec_|xprv|c[ar]t_(?=[\\w-]{43}))[0-9A-Za-z+/_=-]{8,}',
    // The credential after "Bearer" or "Basic"
    '(?:Bearer|Basic)\\s+[\\w.~+/=-]{8,}',
    // The value of a query parameter whose name suggests a secret
    '(?<=[?&](?:key|api_?key|token|secret|signature|code|password)=)[^&\\s"\\\\]+',
  ].join('|'),
  'gi',
)

/**
 * A token of another service. The match takes the whole run of its characters, whether or not the rest of a token
 * follows: otherwise text that only begins like a token would be tried again from each position where it does.
 */
const JSON_WEB_TOKEN = /eyJ[\w-]{8,}(?:\.[\w-]+\.[\w-]*)?/gi

function cutToken(found: string): string {
  return found.includes('.') ? CUT : found
}

/**
 * The part of a URL before its host is a password and is cut; e-mail addresses keep their first letter and their host.
 * Here too the match takes the whole run, so that no text is tried again from each of its characters.
 */
const ADDRESSES = new RegExp(
  ['(?<=:\\/\\/)[^\\s/@"]{1,256}@', "[\\w.!#$%&'*+=?^`{|}~-]+(?:@(?:[a-z\\d-]{1,63}\\.)+[a-z\\d-]{2,63}\\b)?"].join(
    '|',
  ),
  'gi',
)

function masked(found: string): string {
  if (found.endsWith('@')) return `${CUT}@`
  const host = found.indexOf('@')
  return host < 0 ? found : `${found.charAt(0)}***${found.slice(host)}`
}

/** The secret as it is, as JSON escapes it, and as a URL encodes it. */
function asWritten(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])]
}
