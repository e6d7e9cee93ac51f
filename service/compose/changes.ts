import type { Request } from 'express'
import { fromPlace, toPlace } from '../changes/rules.ts'
import { createChanges } from '../changes/service.ts'
import { createChangeStore } from '../changes/store.ts'
import { serveFollowing } from '../api/following.ts'
import type { ServerEvent } from '../api/route.ts'
import type { Caller } from '../kit/caller.ts'
import type { Ground, Part } from './ground.ts'

/** What changed, for the dashboard's open pages; under the path of what they ask. */
export function openChanges(ground: Ground, identify: (request: Request) => Promise<Caller>): { part: Part } {
  const { database, clock, log } = ground
  const changes = createChanges({ store: createChangeStore(database.statements), clock, log })

  async function* told(news: ReturnType<typeof changes.follow>): AsyncGenerator<ServerEvent> {
    for await (const one of news) {
      if ('over' in one) yield { event: 'over', data: {} }
      else yield { event: 'changed', id: toPlace(one.marks), data: { kinds: one.kinds } }
    }
  }

  return {
    part: {
      mounted: [
        {
          role: 'dashboard',
          path: '/trpc/changes',
          handler: serveFollowing(
            '/trpc/changes',
            (owner, { lastId, ...following }) =>
              told(changes.follow(owner, { ...following, from: lastId === undefined ? null : fromPlace(lastId) })),
            identify,
          ),
        },
      ],
      stop() {
        changes.close()
        return Promise.resolve()
      },
    },
  }
}
