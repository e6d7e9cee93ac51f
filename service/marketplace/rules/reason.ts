import { plain } from '../../kit/schema/bounded.ts'

/**
 * The reason that a creator's server gives for its failure, fit for the buyer to read: short, in one line, and without
 * the secrets that it was called with, in case it repeats them.
 */
export function withReason(sentence: string, response: string, secrets: readonly string[]): string {
  const reason = reasonOf(response, secrets)
  return reason === '' ? sentence : `${sentence.replace(/\.$/, '')}: ${reason}`
}

/** Why a call to a creator's server failed, for the caller: without the server's address. */
export function callFailure(callee: 'agent' | 'tool', code: string): string {
  switch (code) {
    case 'response_timeout':
      return `The ${callee} did not answer in time.`
    case 'connect_timeout':
    case 'connection_failed':
      return `The ${callee} could not be reached.`
    case 'response_too_large':
      return `The ${callee} returned a response that is too large.`
    case 'address_refused':
      return `The ${callee}'s address may not be called.`
    case 'redirect_refused':
      return `The ${callee} answered with a redirect, which is not followed.`
    default:
      return `The call to the ${callee} failed.`
  }
}

function reasonOf(response: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(formsOf).sort((one, other) => other.length - one.length)
  let text = response.slice(0, LOOKED_AT)
  for (const form of forms) text = text.replaceAll(form, HIDDEN)
  // The text may be cut in the middle of a secret.
  if (response.length > LOOKED_AT) text = text.slice(0, Math.max(0, text.length - (forms[0]?.length ?? 0)))
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
