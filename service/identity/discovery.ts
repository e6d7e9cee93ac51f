import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import type { Log } from '../kit/log.ts'
import { identityProviderUnavailable } from './errors.ts'
import type { FetchDocument } from './ports.ts'
import { withoutTrailing } from '../kit/text.ts'

/** An OpenID Connect issuer's discovery document, fetched when first needed and again every hour. */
export function createDiscovery(options: DiscoveryOptions): Discover {
  let discovered: { at: Date; document: Promise<Discovered> } | null = null
  return (now) => {
    if (discovered === null || now.getTime() - discovered.at.getTime() > REDISCOVER_MS) {
      const attempt = { at: now, document: readDiscovery(options) }
      discovered = attempt
      // A failure is not cached: the next caller tries again.
      attempt.document.catch(() => {
        if (discovered === attempt) discovered = null
      })
    }
    return discovered.document
  }
}

export interface DiscoveryOptions {
  /** As configured, without a trailing slash; users are stored under this name. */
  issuer: string
  fetchDocument: FetchDocument
  log: Log
}

export type Discover = (now: Date) => Promise<Discovered>

export interface Discovered {
  /** As its tokens spell it, with or without a trailing slash. */
  name: string
  keys: JWTVerifyGetKey
  authorizationEndpoint: string | null
  tokenEndpoint: string | null
  userinfoEndpoint: string | null
}

async function readDiscovery(options: DiscoveryOptions): Promise<Discovered> {
  const address = `${options.issuer}/.well-known/openid-configuration`
  const document = discovery.safeParse(await readDocument(address, options))
  if (!document.success || withoutTrailing(document.data.issuer, '/') !== options.issuer) {
    options.log.error(
      { address },
      'OIDC_ISSUER does not match the issuer in the discovery document of the identity provider.',
    )
    throw identityProviderUnavailable(document.error)
  }
  const keys = createRemoteJWKSet(new URL(document.data.jwks_uri), {
    // A fetched JWKS is used for ten minutes; an unknown key id fetches it again, at most every 30 seconds.
    cacheMaxAge: 600_000,
    cooldownDuration: 30_000,
    [customFetch]: async (url) => Response.json(await readDocument(url, options)),
  })
  const { issuer: name, authorization_endpoint, token_endpoint, userinfo_endpoint } = document.data
  return {
    name,
    keys,
    authorizationEndpoint: authorization_endpoint ?? null,
    tokenEndpoint: token_endpoint ?? null,
    userinfoEndpoint: userinfo_endpoint ?? null,
  }
}

/** A fault of the issuer is never reported as a fault of the caller. */
export async function readDocument(
  address: string,
  { fetchDocument, log }: Pick<DiscoveryOptions, 'fetchDocument' | 'log'>,
  more?: Parameters<FetchDocument>[1],
): Promise<unknown> {
  try {
    const { status, text } = await fetchDocument(address, more)
    if (status !== 200) throw new Error(`${address} answered ${String(status)}`)
    return JSON.parse(text) as unknown
  } catch (error) {
    log.warn({ err: error, address }, 'The discovery document of the identity provider cannot be read.')
    throw identityProviderUnavailable(error)
  }
}

const address = z.url({ protocol: /^https?$/ })
const discovery = z.object({
  issuer: z.string(),
  jwks_uri: address,
  authorization_endpoint: address.optional(),
  token_endpoint: address.optional(),
  userinfo_endpoint: address.optional(),
})

const REDISCOVER_MS = 3_600_000
