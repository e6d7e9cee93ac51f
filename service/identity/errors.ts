import { DomainError } from '../kit/errors.ts'

/**
 * Why a request's credential is not accepted, and what to do about it. Only a caller who holds the whole key learns
 * that it was revoked or has expired; for every other credential the answer reveals no more than the caller sent.
 */
export function unauthenticated(reason: CredentialFault = 'credential_invalid', cause?: unknown): DomainError {
  return new DomainError('unauthenticated', 'unauthenticated', SENTENCES[reason], { reason }).causedBy(cause)
}

export type CredentialFault = keyof typeof SENTENCES

const SENTENCES = {
  credential_missing:
    'Authentication is required: send an API key, session token or access token as "Authorization: Bearer …". Create keys in the dashboard.',
  scheme_unknown: 'Authorization must use the scheme Bearer: send "Authorization: Bearer …".',
  bearer_missing: 'The word Bearer is missing before the API key: send "Authorization: Bearer csk_…".',
  key_unknown:
    'This server does not know this API key: check that you copied all of it, or create a new one in the dashboard.',
  key_revoked: 'This API key was revoked: create a new one in the dashboard.',
  key_expired: 'This API key has expired: create a new one in the dashboard.',
  account_changed:
    'This browser is signed in with another account now: sign in again with the one that the page shows.',
  credential_invalid: 'This session or access token is invalid or has expired: sign in again and use the new one.',
} as const

export function environmentUnknown(): DomainError {
  return new DomainError('invalid', 'environment_unknown', 'Coinslot-Environment must be sandbox or production.', {
    details: { 'Coinslot-Environment': 'must be sandbox or production' },
  })
}

export function environmentMismatch(environment: string): DomainError {
  return new DomainError(
    'invalid',
    'environment_mismatch',
    `This key is for ${environment}, but Coinslot-Environment names the other environment: change the header or use another key.`,
    { details: { 'Coinslot-Environment': `must be ${environment} or absent with this key` } },
  )
}

export function environmentUnavailable(): DomainError {
  return new DomainError('invalid', 'environment_unavailable', 'This server has no production environment.', {
    details: { 'Coinslot-Environment': 'must be sandbox on this server' },
  })
}

export function identityProviderUnavailable(cause?: unknown): DomainError {
  return new DomainError(
    'unavailable',
    'identity_provider_unavailable',
    'The identity provider cannot be reached to check this token; try again.',
    { retryAfterSeconds: 5 },
  ).causedBy(cause)
}

export function sessionsUnavailable(cause: unknown): DomainError {
  return new DomainError('unavailable', 'unavailable', 'Sessions cannot be looked up right now; try again.', {
    retryAfterSeconds: 1,
  }).causedBy(cause)
}

export function keyMissing(): DomainError {
  return new DomainError('missing', 'key_not_found', 'There is no such key.')
}

export function handleTaken(): DomainError {
  return new DomainError('conflict', 'handle_taken', 'This handle is taken. Choose another one.', {
    details: { handle: 'is taken' },
  })
}

/** A failed wallet sign-in says why, because the wallet's owner can correct it. */
export function walletRefused(sentence: string): DomainError {
  return new DomainError('unauthenticated', 'wallet_refused', sentence)
}

export function hookRefused(): DomainError {
  return new DomainError('unauthenticated', 'invalid_signature', 'The signature of this message is missing or wrong.')
}

export function hookUnavailable(): DomainError {
  return new DomainError('missing', 'not_found', 'Not found.')
}
