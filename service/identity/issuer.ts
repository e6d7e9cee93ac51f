import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import type { Log } from '../kit/log.ts'
import { DomainError } from '../kit/errors.ts'
import { identityProviderUnavailable, unauthenticated } from './errors.ts'
import type { Person } from './model.ts'
import type { FetchDocument, TokenIssuer } from './ports.ts'

export interface IssuerOptions {
  /** As configured, without a slash at the end; users are kept under this name. */
  issuer: string
  audience: string
  fetchDocument: FetchDocument
  log: Log
}

/** Tokens of an OpenID Connect issuer, checked by the keys that it publishes. */
export function createTokenIssuer(options: IssuerOptions): TokenIssuer {
  let discovered: { at: Date; document: Promise<Discovered> } | null = null

  function discover(now: Date): Promise<Discovered> {
    if (discovered === null || now.getTime() - discovered.at.getTime() > REDISCOVER_MS) {
      const attempt = { at: now, document: readDiscovery(options) }
      discovered = attempt
      // A failure is not remembered: the next token asks again.
      attempt.document.catch(() => {
        if (discovered === attempt) discovered = null
      })
    }
    return discovered.document
  }

  return {
    async verify(token, now) {
      const { name, keys } = await discover(now)
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer: name,
          audience: options.audience,
          algorithms: ASYMMETRIC,
          clockTolerance: 30,
          currentDate: now,
          requiredClaims: ['sub', 'exp'],
        })
        return toPerson(options.issuer, payload)
      } catch (error) {
        if (error instanceof DomainError) throw error
        if (error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout) {
          throw identityProviderUnavailable(error)
        }
        throw unauthenticated(error)
      }
    },
  }
}

interface Discovered {
  /** As its tokens spell it, with a slash at the end or without. */
  name: string
  keys: JWTVerifyGetKey
}

async function readDiscovery(options: IssuerOptions): Promise<Discovered> {
  const address = `${options.issuer}/.well-known/openid-configuration`
  const document = discovery.safeParse(await readDocument(address, options))
  if (!document.success || document.data.issuer.replace(/\/+$/, '') !== options.issuer) {
    options.log.error({ address }, 'The identity provider does not describe itself as OIDC_ISSUER says.')
    throw identityProviderUnavailable(document.error)
  }
  const keys = createRemoteJWKSet(new URL(document.data.jwks_uri), {
    // A JWKS that came once is enough for ten minutes; an unknown key asks again, every 30 seconds at most.
    cacheMaxAge: 600_000,
    cooldownDuration: 30_000,
    [customFetch]: async (url) => Response.json(await readDocument(url, options)),
  })
  return { name: document.data.issuer, keys }
}

/** The issuer's fault is never taken for the token's. */
async function readDocument(address: string, { fetchDocument, log }: IssuerOptions): Promise<unknown> {
  try {
    const { status, text } = await fetchDocument(address)
    if (status !== 200) throw new Error(`${address} answered ${String(status)}`)
    return JSON.parse(text) as unknown
  } catch (error) {
    log.warn({ err: error, address }, 'The identity provider cannot be read.')
    throw identityProviderUnavailable(error)
  }
}

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) })

function toPerson(issuer: string, claims: JWTPayload): Person {
  const subject = toText(claims.sub, 255)
  if (subject === null) throw unauthenticated()
  const email = toText(claims['email'], 320)
  const confirmed = claims['email_verified'] === true || claims['email_verified'] === 'true'
  return { issuer, subject, name: toText(claims['name'], 100), email, emailConfirmed: email !== null && confirmed }
}

/** Null for what is no text, too long, or holds characters that nobody's name has. */
function toText(claim: unknown, longest: number): string | null {
  return typeof claim === 'string' && claim !== '' && claim.length <= longest && !CONTROL.test(claim) ? claim : null
}

// eslint-disable-next-line no-control-regex -- these are exactly the ones to be found
const CONTROL = /[\u0000-\u001f\u007f]/
/** A secret that both sides know would let anybody who learns it sign. */
const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const REDISCOVER_MS = 3_600_000
