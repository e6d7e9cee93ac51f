import { createHash } from 'node:crypto'
import { accessTokenRefused, GrantRefused } from '../errors.ts'
import type { Grant, IssuedTokens, Tokens } from '../model.ts'

/** The proof that comes with a code. */
export interface Redemption {
  clientId: string
  redirectUri: string | undefined
  verifier: string | undefined
  resource: string | undefined
}

/** Throws unless the code buys tokens now. */
export function assertRedeemable(grant: Grant | null, proof: Redemption, now: Date): asserts grant is Grant {
  if (grant?.clientId !== proof.clientId) throw new GrantRefused('invalid_grant', 'This code is unknown.')
  if (grant.redeemedAt !== null) {
    throw new GrantRefused('invalid_grant', 'This code was used before. Connect again.', true)
  }
  if (grant.endedAt !== null || grant.expiresAt <= now) {
    throw new GrantRefused('invalid_grant', 'This code has expired. Connect again.')
  }
  if (proof.redirectUri !== grant.redirectUri) {
    throw new GrantRefused('invalid_grant', 'redirect_uri must be the one that the code was requested with.')
  }
  if (proof.verifier === undefined || challengeOf(proof.verifier) !== grant.challenge) {
    throw new GrantRefused('invalid_grant', 'code_verifier does not match the challenge.')
  }
  assertResource(grant, proof.resource)
}

/** Throws unless this is the grant's newest refresh token. */
export function assertRefreshable(
  grant: Grant | null,
  { clientId, refresh, resource }: { clientId: string; refresh: string; resource: string | undefined },
  now: Date,
): asserts grant is Grant {
  if (grant?.clientId !== clientId || grant.endedAt !== null) {
    throw new GrantRefused('invalid_grant', 'This refresh token is unknown or was revoked. Connect again.')
  }
  if (grant.refreshHash?.equals(hashOf(refresh)) !== true) {
    throw new GrantRefused('invalid_grant', 'This refresh token was used before. Connect again.', true)
  }
  if (grant.expiresAt <= now) throw new GrantRefused('invalid_grant', 'This refresh token has expired. Connect again.')
  assertResource(grant, resource)
}

/** Throws unless the access token is valid now, for this resource. */
export function assertAccess(grant: Grant | null, resource: string, now: Date): asserts grant is Grant {
  const isValid =
    grant?.endedAt === null &&
    grant.resource === resource &&
    grant.accessExpiresAt !== null &&
    grant.accessExpiresAt > now
  if (!isValid) throw accessTokenRefused()
}

function assertResource(grant: Grant, resource: string | undefined): void {
  if (resource !== undefined && resource !== grant.resource) {
    throw new GrantRefused('invalid_target', `resource must be ${grant.resource}.`)
  }
}

export function toIssued(tokens: Tokens, grant: Grant, now: Date): IssuedTokens {
  return {
    redeemedAt: grant.redeemedAt ?? now,
    familyHash: familyOf(tokens.refresh),
    refreshHash: hashOf(tokens.refresh),
    accessHash: hashOf(tokens.access),
    accessExpiresAt: new Date(now.getTime() + ACCESS_SECONDS * 1_000),
    expiresAt: new Date(now.getTime() + REFRESH_MS),
  }
}

/** All refresh tokens of a grant begin alike. So an old one still finds the grant, and none of them has to be stored. */
export function familyOf(refresh: string): Buffer {
  return hashOf(refresh.split('.')[0] ?? '')
}

export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier, 'utf8').digest('base64url')
}

/** How an access token begins, so that no other credential is looked up as one. */
export const ACCESS_PREFIX = 'cat_'
export const REFRESH_PREFIX = 'crt_'
export const ACCESS_SECONDS = 3_600
export const CODE_MS = 60_000
/** Unused for so long, a connection ends. */
const REFRESH_MS = 30 * 86_400_000
