import { createHash, createHmac } from 'node:crypto'
import { accessTokenRefused, GrantRefused } from '../errors.ts'
import type { Exchange, Grant, IssuedTokens, Tokens } from '../model.ts'

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

/** A refresh token as its client presents it. */
export interface Refresh {
  clientId: string
  refresh: string
  resource: string | undefined
}

/**
 * New tokens for the grant's newest refresh token. For a minute after that, it and the one before give the same tokens again:
 * a client whose calls find at once that the access token has ended refreshes for each of them, some with the new token
 * already, and an answer may get lost. Throws for any other token.
 */
export function toRefreshed(
  grant: Grant | null,
  { clientId, refresh, resource }: Refresh,
  { secret, salt, now }: { secret: string; salt: Buffer; now: Date },
): Exchange {
  if (grant?.clientId !== clientId || grant.endedAt !== null) {
    throw new GrantRefused('invalid_grant', 'This refresh token is unknown or was revoked. Connect again.')
  }
  const hash = hashOf(refresh)
  const repeated = tokensAgain(grant, { refresh, hash, secret, now })
  if (repeated === null && grant.refreshHash?.equals(hash) !== true) {
    throw new GrantRefused('invalid_grant', 'This refresh token was used before. Connect again.', true)
  }
  if (grant.expiresAt <= now) throw new GrantRefused('invalid_grant', 'This refresh token has expired. Connect again.')
  assertResource(grant, resource)
  if (repeated !== null) return { tokens: repeated, issued: null }
  const tokens = tokensOf(refreshAfter(refresh, salt, secret), secret)
  return { tokens, issued: { ...toIssued(tokens, grant, now), previousHash: hash, rotationSalt: salt, rotatedAt: now } }
}

/** The tokens of the last refresh, if they can be found again. Null with another secret, whose tokens would be no valid ones. */
function tokensAgain(
  grant: Grant,
  { refresh, hash, secret, now }: { refresh: string; hash: Buffer; secret: string; now: Date },
): Tokens | null {
  const { rotatedAt, rotationSalt: salt, refreshHash, previousHash, accessHash } = grant
  if (rotatedAt === null || now.getTime() - rotatedAt.getTime() > REPEAT_MS) return null
  const isPrevious = previousHash?.equals(hash) === true
  const newest = isPrevious ? refreshAfter(refresh, salt, secret) : refresh
  if (refreshHash?.equals(hashOf(newest)) !== true) return null
  const tokens = tokensOf(newest, secret)
  // A process of the version before derives both from the previous token.
  const before = { access: ACCESS_PREFIX + derived('access', refresh, { salt, secret }), refresh: newest }
  return [tokens, before].find(({ access }) => accessHash?.equals(hashOf(access))) ?? null
}

/** Derived, so that a repeated refresh finds it again although only its hash is stored. */
function refreshAfter(refresh: string, salt: Buffer | null, secret: string): string {
  return `${beginningOf(refresh)}.${derived('refresh', refresh, { salt, secret })}`
}

/** A refresh token with its access token, which it can find again too. */
function tokensOf(refresh: string, secret: string): Tokens {
  return { access: ACCESS_PREFIX + derived('access', refresh, { salt: null, secret }), refresh }
}

function derived(kind: string, refresh: string, { salt, secret }: { salt: Buffer | null; secret: string }): string {
  return createHmac('sha256', secret)
    .update(`oauth-${kind} ${salt?.toString('base64url') ?? ''} ${refresh}`)
    .digest('base64url')
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
    clientExpiresAt: new Date(now.getTime() + CLIENT_MS),
    previousHash: null,
    rotationSalt: null,
    rotatedAt: null,
  }
}

/** All refresh tokens of a grant begin alike. So an old one still finds the grant, and none of them has to be stored. */
export function familyOf(refresh: string): Buffer {
  return hashOf(beginningOf(refresh))
}

function beginningOf(refresh: string): string {
  return refresh.split('.')[0] ?? ''
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
/** Longer than a connection that is not used. */
const CLIENT_MS = 90 * 86_400_000
const REPEAT_MS = 60_000
