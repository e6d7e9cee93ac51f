import { errors, jwtVerify, type JWTPayload } from 'jose'
import { DomainError } from '../kit/errors.ts'
import type { Discover } from './discovery.ts'
import { identityProviderUnavailable, unauthenticated } from './errors.ts'
import type { Person } from '../kit/caller.ts'
import type { TokenIssuer } from './ports.ts'

export interface IssuerOptions {
  issuer: string
  audience: string
  discover: Discover
}

/** Verifies tokens of an OpenID Connect issuer with the keys that it publishes. */
export function createTokenIssuer({ issuer, audience, discover }: IssuerOptions): TokenIssuer {
  return {
    async verify(token, now) {
      return toPerson(issuer, await claimsOf(token, await discover(now), audience, now))
    },
  }
}

/**
 * The claims of a token, after checking that the issuer signed it, that it is for this audience, and that it has not
 * expired.
 */
export async function claimsOf(
  token: string,
  { name, keys }: Pick<Awaited<ReturnType<Discover>>, 'name' | 'keys'>,
  audience: string,
  now: Date,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: name,
      audience,
      algorithms: ASYMMETRIC,
      clockTolerance: 30,
      currentDate: now,
      requiredClaims: ['sub', 'exp'],
    })
    return payload
  } catch (error) {
    if (error instanceof DomainError) throw error
    if (error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout) {
      throw identityProviderUnavailable(error)
    }
    throw unauthenticated('credential_invalid', error)
  }
}

export function toPerson(issuer: string, claims: JWTPayload): Person {
  const subject = toText(claims.sub, 255)
  if (subject === null) throw unauthenticated()
  const email = toText(claims['email'], 320)
  const confirmed = claims['email_verified'] === true || claims['email_verified'] === 'true'
  return { issuer, subject, name: toText(claims['name'], 100), email, emailConfirmed: email !== null && confirmed }
}

/** Null for a claim that is not a text, is too long, or contains control characters, which no name has. */
function toText(claim: unknown, longest: number): string | null {
  return typeof claim === 'string' && claim !== '' && claim.length <= longest && !CONTROL.test(claim) ? claim : null
}

// oxlint-disable-next-line no-control-regex -- these are exactly the ones to be found
const CONTROL = /[\u0000-\u001f\u007f]/
/** Asymmetric algorithms only: with a shared secret, anyone who learns it could sign tokens. */
const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
