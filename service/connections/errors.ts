import { DomainError } from '../kit/errors.ts'

export function connectionMissing(): DomainError {
  return new DomainError('missing', 'connection_not_found', 'You have no such connection. List yours to find one.')
}

/** A 409 that a person resolves on a page. The call can go on as soon as they have. */
export function connectionRequired(
  { name, slug }: { name: string; slug: string },
  connectUrl: string,
  why: 'none' | 'expired' | 'hosts' | 'schemes',
): DomainError {
  const sentence = `${WHY[why](name)} Connect it at ${connectUrl} and call again. Nothing was charged.`
  return new DomainError('conflict', 'connection_required', sentence, { provider: slug, connectUrl })
}

const WHY = {
  none: (name: string) => `This tool acts in your own ${name} account, which is not connected.`,
  expired: (name: string) => `${name} no longer accepts your connection.`,
  hosts: (name: string) => `This tool is on a host that your connection to ${name} was not made for.`,
  schemes: (name: string) => `This tool needs another key than your connection to ${name} has.`,
}

/** For a caller without an account. */
export function accountNeeded(name: string): DomainError {
  const sentence = `This tool acts in the caller's own ${name} account. Call it with an API key of an account that is connected to ${name}.`
  return new DomainError('conflict', 'connection_required', sentence)
}

export function providerUnknown(slug: string): DomainError {
  return new DomainError(
    'missing',
    'provider_not_found',
    `There is no provider ${slug}. List the providers to find one.`,
  )
}

export function clientMissing(name: string): DomainError {
  const sentence = `${name} cannot be connected by signing in, because no OAuth client is set up for it. Connect it with a key instead, or ask the operator of this server.`
  return new DomainError('conflict', 'oauth_client_missing', sentence)
}

export function nothingToConnect(name: string): DomainError {
  return new DomainError('conflict', 'connection_not_needed', `${name} needs no connection. Call its tools directly.`)
}

/** The person's browser came back with a state that is unknown, used, over, or another account's. */
export function authorizationUnknown(): DomainError {
  const sentence =
    'This authorization is unknown, over or was started by another account. Nothing was stored. Connect again.'
  return new DomainError('conflict', 'authorization_unknown', sentence)
}

/** `fault` is our own sentence, or a code of the OAuth specifications: never the server's text. */
export function authorizationRefused(name: string, fault: string): DomainError {
  const sentence = `${name} could not be connected: ${fault}. Nothing was stored. Connect again.`
  return new DomainError('upstream', 'authorization_refused', sentence)
}

/** The grant is over: renewing it again cannot help. */
export class GrantOver extends Error {
  readonly code: string
  constructor(code: string) {
    super(`the authorization server refused the grant: ${code}`)
    this.code = code
  }
}

export function refreshFailed(name: string, cause?: unknown): DomainError {
  const sentence = `The access to ${name} could not be renewed now. Try again in a minute. Nothing was charged.`
  return new DomainError('upstream', 'upstream_error', sentence).causedBy(cause)
}

export function nameTaken(name: string): DomainError {
  const sentence = `You have a connection to this provider with the name ${name} already. Choose another name.`
  return new DomainError('conflict', 'connection_name_taken', sentence)
}

export function notActive(): DomainError {
  return new DomainError(
    'conflict',
    'connection_not_active',
    'This connection is not active. Connect it again, then test it.',
  )
}
