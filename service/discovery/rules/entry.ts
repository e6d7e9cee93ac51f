import { domainToASCII } from 'node:url'
import { isIP } from 'node:net'
import { isLoopback } from '../../kit/http.ts'
import { plain } from '../../kit/schema/bounded.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { withoutTrailing } from '../../kit/text.ts'
import { BODY_METHODS, QUERY_METHODS, type OfferedResource } from '../../x402/bazaar.ts'
import type { Accepted, Entry } from '../model.ts'
import { faultOf, faultOfDocument } from './schema.ts'

/** Why a resource is not listed: a code for programs, a colon and a sentence. */
export interface Rejection {
  rejected: string
}

/**
 * The entry that a payment's resource gets. All of it comes from the payer, who may have changed it, so everything is
 * checked. Bad decoration (name, tags, icon) is left out; anything else that is wrong is a rejection.
 */
export function entryOf(sold: OfferedResource): Entry | Rejection {
  const { payment, resource, extensions } = sold
  const { network } = payment
  const bazaar = extensions['bazaar']
  if (!isRecord(bazaar)) return no('no_bazaar_extension', 'the payment carries no extensions.bazaar')
  if (network === null) return no('unknown_network', 'the network is not served here')
  if (!isRecord(resource)) return no('no_resource', 'the payment carries no resource with a url')
  const url = urlIn(resource)
  if (url === null) return no('bad_resource', `resource.url must be a URL of at most ${String(URL_MAX)} characters`)
  const hidden = faultOfHost(url, network.live)
  if (hidden !== null) return no('unreachable_resource', hidden)
  const fault = faultOfExtension(bazaar)
  if (fault !== null) return no('bad_bazaar_extension', fault)
  const input = (bazaar['info'] as Raw)['input'] as Raw
  const type = input['type'] === 'mcp' ? 'mcp' : 'http'
  const { description, mimeType } = resource
  return {
    resource: url.origin + (type === 'http' ? (templateIn(bazaar) ?? url.pathname) : url.pathname),
    tool: type === 'mcp' ? (input['toolName'] as string) : '',
    network: network.name,
    scheme: payment.required.scheme,
    payTo: payment.required.payTo,
    type,
    x402Version: payment.version,
    accepts: [acceptedIn(sold)],
    description: typeof description === 'string' ? plain(description, DESCRIPTION_MAX) || null : null,
    mimeType: typeof mimeType === 'string' && MIME_TYPE.test(mimeType) ? mimeType : null,
    serviceName: isLabel(resource['serviceName']) ? resource['serviceName'] : null,
    tags: tagsIn(resource['tags']),
    iconUrl: iconIn(resource['iconUrl']),
    extensions: { bazaar: sold.isOurs === true ? bazaar : withPlainTexts(bazaar) },
    extensionKeys: keysOf(extensions),
  }
}

/**
 * Whether this service answers at a resource's address. Express reads paths in any letter case, and a host may end with a
 * dot.
 */
export function isServedHere(resource: string, addresses: readonly string[]): boolean {
  const place = placeOf(resource)
  return addresses.map(placeOf).some((own) => place === own || place.startsWith(`${own}/`))
}

function placeOf(address: string): string {
  const { hostname, port, pathname } = new URL(address)
  return `${hostname.replace(/\.$/, '')}:${port}${withoutTrailing(pathname, '/')}`.toLowerCase()
}

/** A model reads descriptions, so those of strangers are one line of bounded length each. */
function withPlainTexts(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withPlainTexts)
  if (!isRecord(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      TEXTS.has(key) && typeof value === 'string' ? plain(value, DESCRIPTION_MAX) : withPlainTexts(value),
    ]),
  )
}

const TEXTS = new Set(['description', 'title', '$comment'])

function no(code: string, sentence: string): Rejection {
  return { rejected: `${code}: ${sentence}` }
}

function urlIn({ url }: Raw): URL | null {
  if (typeof url !== 'string' || url.length > URL_MAX || !URL.canParse(url)) return null
  return new URL(url)
}

const URL_MAX = 2_048
const DESCRIPTION_MAX = 500
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

/** Only what a buyer elsewhere can call is listed; with test money also what runs on one's own machine. */
function faultOfHost({ protocol, hostname, username, password }: URL, live: boolean): string | null {
  if (username !== '' || password !== '') return 'resource.url must have no user name or password'
  const isOwn = isLoopback(hostname)
  if (!live && isOwn && (protocol === 'http:' || protocol === 'https:')) return null
  if (protocol !== 'https:') return 'resource.url must be https'
  if (isOwn) return 'resource.url must not be a loopback address'
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  // The addresses of people's services have names. A literal one is private, or changes with its server.
  if (isIP(address) !== 0) return 'resource.url must have a host name, not an address'
  const name = hostname.replace(/\.$/, '').toLowerCase()
  return !name.includes('.') || PRIVATE_NAME.test(name) ? 'resource.url must have a public host name' : null
}

const PRIVATE_NAME = /\.(local|localhost|localdomain|internal|intranet|lan|home|corp|private|test|invalid|onion|arpa)$/

/** Null when the extension is what its specification says, and its example fits its schema. */
function faultOfExtension(bazaar: Raw): string | null {
  const oversized = faultOfDocument(bazaar)
  if (oversized !== null) return `extensions.bazaar ${oversized}`
  // Only now: what nests too deeply cannot be serialised.
  if (JSON.stringify(bazaar).length > BAZAAR_MAX) return `extensions.bazaar is larger than ${String(BAZAAR_MAX)} bytes`
  const { info, schema } = bazaar
  if (!isRecord(info) || !isRecord(info['input'])) return 'extensions.bazaar.info.input must be an object'
  if (!isRecord(schema)) return 'extensions.bazaar.schema must be an object'
  const fault = info['input']['type'] === 'mcp' ? faultOfTool(info['input']) : faultOfRequest(info['input'])
  return fault ?? faultOf(schema, info)
}

const BAZAAR_MAX = 16_384

function faultOfRequest({ type, method, bodyType }: Raw): string | null {
  if (type !== 'http') return 'info.input.type must be http or mcp'
  if (
    method !== undefined &&
    !(typeof method === 'string' && (QUERY_METHODS.has(method) || BODY_METHODS.has(method)))
  ) {
    return 'info.input.method must be GET, HEAD, DELETE, POST, PUT or PATCH'
  }
  if (bodyType === undefined) return null
  if (!BODY_TYPES.has(bodyType)) return 'info.input.bodyType must be json, form-data or text'
  return method === undefined || BODY_METHODS.has(method)
    ? null
    : `info.input.bodyType must be absent, because ${method} has no body`
}

function faultOfTool({ toolName, inputSchema, transport }: Raw): string | null {
  if (typeof toolName !== 'string' || toolName === '' || toolName.length > TOOL_NAME_MAX) {
    return `info.input.toolName must have 1 to ${String(TOOL_NAME_MAX)} characters`
  }
  if (!isRecord(inputSchema)) return 'info.input.inputSchema must be an object'
  return transport === undefined || TRANSPORTS.has(transport)
    ? null
    : 'info.input.transport must be streamable-http or sse'
}

const BODY_TYPES: ReadonlySet<unknown> = new Set(['json', 'form-data', 'text'])
const TRANSPORTS: ReadonlySet<unknown> = new Set(['streamable-http', 'sse'])
const TOOL_NAME_MAX = 128

/** Null for a template that could name another place than the seller's own path, however it is encoded. */
function templateIn({ routeTemplate: template }: Raw): string | null {
  if (typeof template !== 'string' || template.length > URL_MAX || !TEMPLATE.test(template)) return null
  let decoded = template
  for (let pass = 0; pass < DECODINGS_MAX; pass++) {
    let next: string
    try {
      next = decodeURIComponent(decoded)
    } catch {
      return null
    }
    if (next === decoded) return decoded.includes('..') || decoded.includes('://') ? null : template
    decoded = next
  }
  return null
}

const TEMPLATE = /^\/[a-zA-Z0-9_/:.\-~%]+$/
const DECODINGS_MAX = 5

function acceptedIn({ payment, timeoutSeconds }: OfferedResource): Accepted {
  const { scheme, network, amount, asset, payTo, domain } = payment.required
  const extra = Object.fromEntries(
    Object.entries(domain).filter(([, value]) => value !== null && value.length <= LABEL_MAX),
  )
  return { scheme, network, amount: String(amount), asset, payTo, maxTimeoutSeconds: timeoutSeconds ?? 60, extra }
}

function isLabel(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LABEL_MAX && PRINTABLE.test(value)
}

const LABEL_MAX = 32
const PRINTABLE = /^[\x20-\x7e]+$/
const TAGS_MAX = 5

/** The first five usable ones, without repetitions in another letter case. */
function tagsIn(value: unknown): string[] {
  const found = new Map<string, string>()
  for (const tag of Array.isArray(value) ? (value.slice(0, 100) as unknown[]) : []) {
    if (isLabel(tag) && !found.has(tag.toLowerCase())) found.set(tag.toLowerCase(), tag)
    if (found.size === TAGS_MAX) break
  }
  return [...found.values()]
}

/** Buyers' programs load it, so it must lead to no address in their own network. */
function iconIn(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > URL_MAX || /\p{Cc}/u.test(value) || !URL.canParse(value)) return null
  const url = new URL(value)
  if (url.protocol === 'http:') url.protocol = 'https:'
  return domainToASCII(url.hostname) !== '' && faultOfHost(url, true) === null ? value : null
}

function keysOf(extensions: Raw): string[] {
  return Object.keys(extensions)
    .filter((key) => EXTENSION_KEY.test(key))
    .slice(0, KEYS_MAX)
    .sort()
}

export const EXTENSION_KEY = /^[a-zA-Z0-9_-]{1,40}$/
const KEYS_MAX = 8

/** The words by which an entry is found, by their weight. */
export function wordsOf(entry: Entry): { name: string; tags: string; description: string; rest: string } {
  const { resource, tool, serviceName, tags, description, extensions } = entry
  const { input } = (extensions['bazaar'] as { info: { input: Raw } }).info
  const fields = [input['body'], input['queryParams'], input['example']].flatMap((one) =>
    isRecord(one) ? Object.keys(one).slice(0, 50) : [],
  )
  const about = typeof input['description'] === 'string' ? plain(input['description'], DESCRIPTION_MAX) : ''
  return {
    name: [serviceName ?? '', spaced(tool)].join(' '),
    tags: tags.join(' '),
    description: [description ?? '', about].join(' '),
    rest: [spaced(resource), ...fields.map((field) => spaced(field.slice(0, 64)))].join(' '),
  }
}

function spaced(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
}

/** A buyer's words in PostgreSQL's form: all of them, or any of them. Null when there are none. */
export function queriesOf(text: string): { all: string; any: string } | null {
  const words = text
    .normalize('NFKC')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && word.length <= WORD_MAX)
    .slice(0, WORDS_MAX)
  if (words.length === 0) return null
  // The last word may be unfinished.
  const parts = words.map((word, place) => (place === words.length - 1 && word.length > 2 ? `${word}:*` : word))
  return { all: parts.join(' & '), any: parts.join(' | ') }
}

const WORD_MAX = 40
const WORDS_MAX = 16
