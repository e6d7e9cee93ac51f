import { literal } from '../../kit/pattern.ts'
import { plain } from '../../kit/schema/bounded.ts'
import type { Failure } from '../model/run.ts'

/** What must not be in a reason. */
export interface Confidential {
  /** What the server was called with, in case it repeats it. */
  secrets: readonly string[]
  /** Where it is called: the creator knows that, buyers must not. */
  addresses: readonly string[]
  /** The buyer's own; an address in them is no news to the buyer. */
  inputs: unknown
}

/** The reason that a creator's server gives for its failure, fit to be read: short, in one line, and without secrets. */
export function withReason(sentence: string, response: string, confidential: Confidential): Omit<Failure, 'code'> {
  const reason = reasonOf(response, confidential.secrets)
  const put = (text: string): string => (text === '' ? sentence : `${sentence.replace(/\.$/, '')}: ${text}`)
  const forBuyer = withoutAddresses(reason, confidential)
  return { sentence: put(forBuyer), ...(forBuyer === reason ? {} : { forCreator: put(reason) }) }
}

/** Error pages and messages of programs name the host, the path and the files of the server that wrote them. */
function withoutAddresses(text: string, { addresses, inputs }: Confidential): string {
  const own = JSON.stringify(inputs) ?? ''
  let shown = text.replaceAll(ADDRESSES, (address) => (own.includes(address) ? address : HIDDEN))
  for (const form of addresses.flatMap(formsOfAddress).sort((one, other) => other.length - one.length)) {
    shown = shown.replaceAll(new RegExp(form, 'gi'), HIDDEN)
  }
  return shown
}

/** The host, all names beside and below it, the path, and the query and each of its pairs, as patterns. */
function formsOfAddress(address: string): string[] {
  if (!URL.canParse(address)) return []
  const { hostname, pathname, search } = new URL(address)
  const labels = hostname.split('.')
  const domain = labels.length > 2 && !/^[\d.]+$/.test(hostname) ? labels.slice(1).join('.') : hostname
  const path = pathname.replace(/\/$/, '')
  // As it is written, and as a request writes it that adds inputs behind it.
  const queries = [search.slice(1), new URLSearchParams(search).toString()]
  const parts = [path, ...queries, ...queries.flatMap((query) => query.split('&'))]
    .flatMap((part) => [part, decoded(part)])
    .filter((part) => part.length >= SECRET_MIN)
  return [`[\\w.@-]*${literal(domain)}(?::\\d+)?`, ...parts.map((part) => `${literal(part)}[^\\s"'<>]*`)]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
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

/** Links, numbers of hosts, what a resolver or a socket names, and paths of at least two parts. */
const ADDRESSES = new RegExp(
  [
    String.raw`[a-z][a-z0-9+.-]*:\\?/\\?/(?:[^\s"'<>\\)]|\\/)+`,
    String.raw`(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH)\s+)[^\s"'<>]+`,
    String.raw`\blocalhost(?::\d+)?\b`,
    String.raw`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`,
    String.raw`\[[\da-f:.]*:[\da-f:.]*\](?::\d+)?`,
    String.raw`(?<![\w:])[\da-f]{0,4}(?::[\da-f]{1,4}){0,6}::[\da-f:]*`,
    String.raw`\b(?:[\da-f]{1,4}:){7}[\da-f]{1,4}\b`,
    String.raw`(?<![\w.)/-])\\?/[\w.@~%-]+(?:\\?/[\w.@~%-]+)+[^\s"'<>)]*`,
  ].join('|'),
  'gi',
)
