import { DomainError } from '../kit/errors.ts'

/** One sentence for every reason: whether a key was never made, has expired or was revoked is its owner's business. */
export function unauthenticated(cause?: unknown): DomainError {
  return new DomainError(
    'unauthenticated',
    'unauthenticated',
    'Send a valid API key, session token or access token as "Authorization: Bearer …".',
    {},
    cause,
  )
}

export function environmentUnknown(): DomainError {
  return new DomainError('invalid', 'environment_unknown', 'Coinslot-Environment must be sandbox or production.', {
    details: { 'Coinslot-Environment': 'must be sandbox or production' },
  })
}

export function environmentMismatch(environment: string): DomainError {
  return new DomainError(
    'invalid',
    'environment_mismatch',
    `This key is for ${environment}; Coinslot-Environment says otherwise.`,
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
    cause,
  )
}

export function sessionsUnavailable(cause: unknown): DomainError {
  return new DomainError(
    'unavailable',
    'unavailable',
    'Sessions cannot be looked up right now; try again.',
    { retryAfterSeconds: 1 },
    cause,
  )
}

export function keyMissing(): DomainError {
  return new DomainError('missing', 'key_not_found', 'There is no such key.')
}

/** A wallet's sign-in that fails says why: the one who holds the wallet can do something about it. */
export function walletRefused(sentence: string): DomainError {
  return new DomainError('unauthenticated', 'wallet_refused', sentence)
}
