import type { Request } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { limitKeyOf, type RequestContext } from '../requests.ts'
import type { McpDeps } from './parts.ts'

/** Finds out who sends a message. */
export function createCallers(deps: Pick<McpDeps, 'guest' | 'identify' | 'limit' | 'resourceMetadata'>) {
  /** Identifies the caller by the header, or by the key in the address for clients that can send no header. */
  async function identified(request: Request, { key, auth }: Readonly<Record<string, string>>): Promise<Caller> {
    const authorization = request.get('authorization') ?? (key === undefined ? undefined : `Bearer ${key}`)
    // A guest gets answers and holds no stream open: streams are limited by account, and all guests are one.
    const isCall = request.method === 'POST' && request.path === '/'
    const isGuest = authorization === undefined && isCall && auth !== 'oauth'
    if (isGuest && deps.guest !== null) return deps.guest
    return await deps.identify(authorization, request)
  }

  async function authenticate(
    request: Request,
    query: Readonly<Record<string, string>>,
    context: RequestContext,
  ): Promise<Caller> {
    try {
      return await identified(request, query)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
      const isWrong = request.get('authorization') !== undefined || query['key'] !== undefined
      const { resourceMetadata } = deps
      const parameters = [
        ...(resourceMetadata === null ? [] : [`resource_metadata="${resourceMetadata}"`]),
        ...(isWrong ? ['error="invalid_token"'] : []),
      ]
      context.challenge = ['Bearer', parameters.join(', ')].join(' ').trim()
      const { refusal } = await deps.limit(limitKeyOf(request))
      throw refusal ?? error
    }
  }

  return { identified, authenticate }
}
