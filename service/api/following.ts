import type { Request, RequestHandler } from 'express'
import { accountOf, assertPerson, type Caller } from '../kit/caller.ts'
import { sendEvents, streamOwner } from './events.ts'
import { contextOf } from './requests.ts'
import type { ServerEvent } from './route.ts'

/** The event stream of a signed-in page: one per page, for one account. It ends with the session that opened it. */
export function serveFollowing(path: string, follow: Follow, identify: Identify): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'GET') {
      next()
      return
    }
    const context = contextOf(response)
    context.route = path
    const caller = (context.caller = await identify(request))
    assertPerson(caller)
    const account = accountOf(caller)
    // If the client disconnected during the lookup, no close event would come any more.
    if (response.closed) return
    const owner = streamOwner(caller, () => identify(request))
    // A refusal must be thrown before the status is sent.
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
      // The stream is already subscribed, and no client will read it.
      gone.abort()
      throw error
    }
  }
}

type Identify = (request: Request) => Promise<Caller>

type Follow = (
  account: ReturnType<typeof accountOf>,
  following: {
    /** The id of the last event that the page received before its stream broke off. */
    lastId: string | undefined
    gone: AbortSignal
    isStillThere(): Promise<boolean>
  },
) => AsyncIterable<ServerEvent>
