import { plain } from '../../kit/schema/bounded.ts'

/**
 * What a creator's server says of its own failure, fit for the buyer to read: short, in one line, and without the
 * secrets that it was called with, in case it repeats them.
 */
export function withReason(sentence: string, said: string, secrets: readonly string[]): string {
  const reason = reasonOf(said, secrets)
  return reason === '' ? sentence : `${sentence.replace(/\.$/, '')}: ${reason}`
}

function reasonOf(said: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(formsOf).sort((one, other) => other.length - one.length)
  let text = said.slice(0, LOOKED_AT)
  for (const form of forms) text = text.replaceAll(form, HIDDEN)
  // At the end of what was looked at, a secret may be there in part.
  if (said.length > LOOKED_AT) text = text.slice(0, Math.max(0, text.length - (forms[0]?.length ?? 0)))
  return plain(text.replaceAll(/\p{Cf}/gu, '').replaceAll(TOKENS, HIDDEN), REASON_MAX)
}

/** As it is, in an address, in JSON, and the part of a header behind its scheme. */
function formsOf(secret: string): string[] {
  const parts = [secret, ...(secret.includes(' ') ? [secret.slice(secret.indexOf(' ') + 1)] : [])]
  return parts
    .flatMap((part) => [part, encodedOf(part), JSON.stringify(part).slice(1, -1)])
    .filter((form) => form.length >= SECRET_MIN)
}

/** Half of a pair of surrogates has no form in an address. */
function encodedOf(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, ''))
}

const REASON_MAX = 500
const LOOKED_AT = 8_000
/** A shorter one is in ordinary words too. */
const SECRET_MIN = 4
const HIDDEN = '[hidden]'
const TOKENS = /\b(?:(?:csk|whsec|sk|pk|rk|ghp|xox[a-z])[_-][\w+/=-]{8,}|(?:bearer|basic)\s+[\w.~+/=-]{8,})/gi
