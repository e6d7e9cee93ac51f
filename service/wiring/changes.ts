import type { Request } from 'express'
import { fromPlace, toPlace } from '../changes/model.ts'
import { createChanges } from '../changes/service.ts'
import { createChangeStore } from '../changes/store.ts'
import { serveFollowing } from '../api/following.ts'
import type { ServerEvent } from '../api/route.ts'
import { KINDS, LEAST_MS, type Kind } from '../changes/model.ts'
import type { Changes } from '../changes/store.ts'
import type { Caller } from '../kit/caller.ts'
import type { Tables } from '../kit/tables.ts'
import type { Platform, Part } from './platform.ts'
import { TABLES } from './tables.ts'

/** What changed, for the dashboard's open pages; under the path of what they ask. */
export function openChanges(
  platform: Platform,
  identify: (request: Request) => Promise<Caller>,
  sweepFactor = 1,
): { part: Part } {
  const { database, clock, log } = platform
  const store = createChangeStore(database.statements, changesOf(TABLES))
  const changes = createChanges({ store, clock, log, leastMs: LEAST_MS * sweepFactor })

  async function* toEvents(news: ReturnType<typeof changes.follow>): AsyncGenerator<ServerEvent> {
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
              toEvents(changes.follow(owner, { ...following, from: lastId === undefined ? null : fromPlace(lastId) })),
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

/** A kind without a table would never change, and an unknown kind would be lost: both are mistakes here. */
function changesOf(tables: readonly Tables[]): Changes {
  const all = tables.flatMap(({ changes }) => Object.entries(changes ?? {}))
  const unknown = all.find(([kind]) => !KINDS.includes(kind as Kind))
  if (unknown !== undefined) throw new Error(`there is no follower for changes of the kind ${unknown[0]}`)
  const entries = KINDS.map((kind) => [kind, all.flatMap(([of, texts]) => (of === kind ? texts : []))] as const)
  const missing = entries.find(([, texts]) => texts.length === 0)
  if (missing !== undefined) throw new Error(`no table shows changes of the kind ${missing[0]}`)
  return Object.fromEntries(entries) as unknown as Changes
}
