import { DomainError } from '../kit/errors.ts'

type GrantCode =
  'invalid_grant' | 'invalid_target' | 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied'

/** A refusal in the terms of OAuth: the code is one of the protocol's. */
export class GrantRefused extends DomainError {
  /** The code or token was used before, so another party may have it: the whole grant ends. */
  readonly ends: boolean

  constructor(code: GrantCode, sentence: string, ends = false) {
    super('invalid', code, sentence)
    this.ends = ends
  }
}

export function clientRefused(sentence: string, cause?: unknown): DomainError {
  return new DomainError('invalid', 'invalid_client', sentence).causedBy(cause)
}

/** Nothing is wrong with the client, as far as is known. */
export function clientUnavailable(sentence: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'temporarily_unavailable', `${sentence} Try again later.`).causedBy(cause)
}

export function clientMetadataRefused(sentence: string): DomainError {
  return new DomainError('invalid', 'invalid_client_metadata', sentence)
}

export function accessTokenRefused(): DomainError {
  const sentence = 'This access token is invalid or has expired: refresh it or connect again.'
  return new DomainError('unauthenticated', 'unauthenticated', sentence, { reason: 'token_invalid' })
}
