import type { Request, RequestHandler } from 'express'
import { accountOf, type Caller } from '../kit/caller.ts'
import { DomainError } from '../kit/errors.ts'
import { sendEvents, streamOwner } from './events.ts'
import { contextOf } from './requests.ts'
import type { ServerEvent } from './route.ts'

/** What a signed-in page listens to: one stream of an account's, that ends with the session which opened it. */
export function serveFollowing(path: string, follow: Follow, identify: Identify): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'GET') {
      next()
      return
    }
    const context = contextOf(response)
    context.route = path
    const caller = (context.caller = await identify(request))
    if (caller.agentId !== null) {
      throw new DomainError('forbidden', 'agent_key_forbidden', "An agent's key may not do this.")
    }
    const account = accountOf(caller)
    // Whoever left while they were looked up would never be told of as gone.
    if (response.closed) return
    const owner = streamOwner(caller, () => identify(request))
    // A refusal must be thrown while there is still a status to tell it by.
    const gone = new AbortController()
    const news = follow(account, {
      lastId: request.get('last-event-id'),
      gone: gone.signal,
      isStillThere: () => owner.isStillThere(),
    })
    const told = (ended: AbortSignal): typeof news => {
      ended.addEventListener('abort', () => {
        gone.abort()
      })
      return news
    }
    try {
      sendEvents(response, told, owner)
    } catch (error) {
      // It has joined already, and nobody will read it.
      gone.abort()
      throw error
    }
  }
}

type Identify = (request: Request) => Promise<Caller>

type Follow = (
  account: ReturnType<typeof accountOf>,
  following: {
    /** Of the last event that a page had before its stream broke off. */
    lastId: string | undefined
    gone: AbortSignal
    isStillThere(): Promise<boolean>
  },
) => AsyncIterable<ServerEvent>
