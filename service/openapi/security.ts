import type { SchemeNeeds, SecurityScheme } from '../connections/model.ts'
import { plain } from '../kit/schema/bounded.ts'
import { isRecord, listOf, type Raw } from '../kit/schema/merge.ts'
import type { AuthScheme } from '../tools/model/tool.ts'

/** The schemes of a document that a request can hold, with the endpoints that it names for OAuth. */
export function schemesOf(document: Raw, auth: AuthScheme | null): SecurityScheme[] {
  if (auth !== null) return [{ name: ONLY, place: auth, oauth: null }]
  return Object.entries(componentsOf(document))
    .flatMap(([name, given]) => {
      const place = toScheme(given)
      return place === null || !NAME.test(name) ? [] : [{ name, place, oauth: oauthOf(given as Raw) }]
    })
    .slice(0, SCHEMES_MAX)
}

/**
 * The ways to authenticate an operation: any is enough, and each names the schemes that it needs together. An empty way
 * means that none is needed.
 */
export function waysOf(document: Raw, operation: Raw, auth: AuthScheme | null): SchemeNeeds[] {
  if (auth !== null) return [[{ scheme: ONLY, scopes: [] }]]
  const schemes = componentsOf(document)
  const ways: SchemeNeeds[] = []
  for (const way of listOf(operation['security'] ?? document['security'])
    .filter(isRecord)
    .slice(0, WAYS_MAX)) {
    const names = Object.keys(way)
    // A scheme that no request can hold makes its way useless.
    const usable = names.every((name) => NAME.test(name) && toScheme(own(schemes, name)) !== null)
    if (!usable || names.length > SCHEMES_MAX) continue
    ways.push(names.map((scheme) => ({ scheme, scopes: scopesOf(way[scheme]) })))
  }
  return ways
}

/** The first authentication scheme that needs a single secret. Null if none is needed. */
export function authOf(document: Raw, operation: Raw): AuthScheme | null {
  const schemes = componentsOf(document)
  for (const way of listOf(operation['security'] ?? document['security']).filter(isRecord)) {
    for (const name of Object.keys(way)) {
      const scheme = toScheme(own(schemes, name))
      if (scheme !== null) return scheme
    }
  }
  return null
}

/** Why no request can be authenticated as the document says. Null where one can, or where none needs to be. */
export function faultOfSecurity(document: Raw, operation: Raw): string | null {
  const schemes = componentsOf(document)
  const ways = listOf(operation['security'] ?? document['security']).filter(isRecord)
  const faults = ways.map((way) => Object.keys(way).find((name) => isUnfit(own(schemes, name))))
  const [first] = faults
  if (first === undefined || faults.includes(undefined)) return null
  const { name } = own(schemes, first) as Raw
  return `its key would be the header "${plain(String(name), NAME_MAX)}", which no request can use for that`
}

/** A key in a header that says how the request is sent, or that is none: no server could read the request. */
function isUnfit(given: unknown): boolean {
  if (!isRecord(given) || given['type'] !== 'apiKey' || given['in'] !== 'header') return false
  const name = String(given['name'])
  return !HEADER.test(name) || OF_THE_WIRE.has(name.toLowerCase())
}

function componentsOf(document: Raw): Raw {
  const components = isRecord(document['components']) ? document['components'] : {}
  return isRecord(components['securitySchemes']) ? components['securitySchemes'] : {}
}

function own(schemes: Raw, name: string): unknown {
  return Object.hasOwn(schemes, name) ? schemes[name] : undefined
}

function toScheme(given: unknown): AuthScheme | null {
  if (!isRecord(given)) return null
  const { type, scheme, name, in: place } = given
  if (type === 'oauth2' || type === 'openIdConnect') return { kind: 'bearer' }
  if (type === 'http') return String(scheme).toLowerCase() === 'basic' ? { kind: 'basic' } : { kind: 'bearer' }
  if (type !== 'apiKey' || typeof name !== 'string' || isUnfit(given)) return null
  return place === 'header' || place === 'query' || place === 'cookie' ? { kind: 'apiKey', in: place, name } : null
}

function oauthOf({ type, flows, openIdConnectUrl }: Raw): SecurityScheme['oauth'] {
  if (type === 'openIdConnect') {
    const issuer = urlOf(openIdConnectUrl)?.replace(/\/\.well-known\/openid-configuration$/, '') ?? null
    return { authorizationUrl: null, tokenUrl: null, issuer, deviceUrl: null }
  }
  if (type !== 'oauth2' || !isRecord(flows)) return null
  const device = isRecord(flows['deviceAuthorization']) ? flows['deviceAuthorization'] : {}
  const flow = [flows['authorizationCode'], flows['clientCredentials']].find(isRecord) ?? device
  return {
    authorizationUrl: urlOf(flow['authorizationUrl']),
    tokenUrl: urlOf(flow['tokenUrl']),
    issuer: null,
    deviceUrl: urlOf(device['deviceAuthorizationUrl']),
  }
}

function urlOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > URL_MAX || !URL.canParse(value)) return null
  const { protocol } = new URL(value)
  return protocol === 'https:' || protocol === 'http:' ? value : null
}

function scopesOf(value: unknown): string[] {
  return listOf(value)
    .filter((scope): scope is string => typeof scope === 'string' && SCOPE.test(scope))
    .slice(0, SCOPES_MAX)
}

/** The name of the scheme where the import says it instead of the document. */
const ONLY = 'key'
/** Headers that say how a request is sent. */
export const OF_THE_WIRE: ReadonlySet<string> = new Set([
  ...[
    'connection',
    'content-length',
    'content-type',
    'expect',
    'host',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
  ],
  'upgrade',
])
const NAME_MAX = 120
const HEADER = /^[\w!#$%&'*+.^`|~-]{1,256}$/
const NAME = /^[\w.-]{1,64}$/
const SCOPE = /^[\x21-\x7e]{1,200}$/
const WAYS_MAX = 5
const SCHEMES_MAX = 20
const SCOPES_MAX = 20
const URL_MAX = 2_048
