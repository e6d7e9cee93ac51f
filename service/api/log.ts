import { pino, type DestinationStream, type Logger } from 'pino'
import { currentContext } from '../kit/context.ts'

/**
 * JSON lines, each with the ids of what it concerns. What is or looks like a secret is cut out of the finished line,
 * so wherever it stands: in a field, deep inside one, in the words of an error or in its stack. `known` are secrets
 * that have no form of their own, as a settings' password or a private key, which looks like any transaction's hash.
 */
export function createLog(level: string, known: readonly string[] = [], to?: DestinationStream): Logger {
  const clean = cleaner(known)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // A copy: pino writes the line's own fields into what it is given.
    mixin: () => ({ ...currentContext()?.tags }),
    hooks: { streamWrite: clean },
  }
  return to === undefined ? pino(options) : pino(options, to)
}

/** Made once for a log: one pass for the names and forms, one for what is known. */
export function cleaner(known: readonly string[]): (line: string) => string {
  const secrets = [...new Set(known)].filter((secret) => secret.length >= SHORTEST).flatMap(asWritten)
  // The longest first: one may begin with another.
  const exact = secrets.sort((a, b) => b.length - a.length).map(escaped)
  const knownOnes = exact.length === 0 ? null : new RegExp(exact.join('|'), 'g')
  return (line) => {
    const clear = knownOnes === null ? line : line.replace(knownOnes, CUT)
    const plain = clear.replace(NAMED, `$1"${CUT}"`).replace(JSON_WEB_TOKEN, cutToken).replace(FORMS, CUT)
    // Most lines have none, and looking for what may stand before one takes longest.
    return plain.includes('@') ? plain.replace(ADDRESSES, masked) : plain
  }
}

const CUT = '[redacted]'
/** A shorter one would be found in ordinary words, and is no secret that could be kept. */
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

/** What a secret of ours, or of somebody's, looks like wherever it stands. */
const FORMS = new RegExp(
  [
    // API keys, signing secrets, extended private keys. No word boundary: in JSON a new line ends with the letter n.
    '(?:csk_(?:live|test)_|whsec_|xprv)[0-9A-Za-z+/_=-]{8,}',
    // Whatever follows "Bearer" or "Basic"
    '(?:Bearer|Basic)\\s+[\\w.~+/=-]{8,}',
    // What stands behind a telling name in a query
    '(?<=[?&](?:key|api_?key|token|secret|signature|code|password)=)[^&\\s"\\\\]+',
  ].join('|'),
  'gi',
)

/**
 * A token of another service. The whole run of its characters is taken, with or without the rest of a token: what only
 * begins like one would else be tried again from each place where it begins so.
 */
const JSON_WEB_TOKEN = /eyJ[\w-]{8,}(?:\.[\w-]+\.[\w-]*)?/gi

function cutToken(found: string): string {
  return found.includes('.') ? CUT : found
}

/**
 * What stands in an address before its host is a password; mail addresses keep their first letter and their host. Of
 * these too the whole run is taken, so that no text is tried again from each of its characters.
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

/** As it is, and as it stands inside of JSON and of an address. */
function asWritten(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])]
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
