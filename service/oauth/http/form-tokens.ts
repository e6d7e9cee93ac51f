import type { Request } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { createSigner } from '../../kit/hash.ts'

/**
 * Tokens of the forms on which a signed-in person decides. Each is for one session and for what its form shows, so that
 * a request that did not come from the form is refused, also where a client sends neither Origin nor Sec-Fetch-Site.
 */
export function createFormTokens(secret: string) {
  const { sign, isSigned } = createSigner(secret, 'oauth-form')

  return {
    tokenFor: (request: Request, owner: Caller, terms: unknown): string => sign(boundTo(request, owner, terms)),

    /** Throws unless the form's token is for this session and these terms. */
    assertToken(request: Request, owner: Caller, terms: unknown): void {
      const { token } = (request.body ?? {}) as { token?: unknown }
      if (typeof token === 'string' && isSigned(boundTo(request, owner, terms), token)) return
      throw new DomainError(
        'forbidden',
        'form_outdated',
        'This form belongs to another sign-in or another request. Open the page again and decide there.',
      )
    },
  }
}

export type FormTokens = ReturnType<typeof createFormTokens>

function boundTo({ headers }: Request, owner: Caller, terms: unknown): unknown {
  const session = headers.authorization ?? headers.cookie?.split(/; */).filter((pair) => SESSION_COOKIE.test(pair))
  return [owner.issuer, owner.subject, session ?? null, terms]
}

const SESSION_COOKIE = /^(?:__Secure-)?coinslot\.session_token=/
