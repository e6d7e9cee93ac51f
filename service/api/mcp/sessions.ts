import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'

/**
 * A session's id says whose it is and proves it, so that no process has to remember it. What was ended is remembered
 * until it would have lapsed: by all processes where they share a Redis, else by this one.
 */
export function createSessions({ clock, redis, secret }: SessionDeps) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'coinslot mcp sessions', 32))
  const ended = new Map<string, number>()

  function sign(id: string, caller: Caller): string {
    return createHmac('sha256', key)
      .update(JSON.stringify([id, holderOf(caller)]))
      .digest('base64url')
  }

  return {
    begin(caller: Caller): string {
      const id = `${clock.now().getTime().toString(36)}.${newId('req', clock.now()).slice(4)}`
      return `${id}.${sign(id, caller)}`
    },

    /** Whether it is one that this very caller began. */
    async check(session: string, caller: Caller): Promise<boolean> {
      const [time = '', body = '', proof = ''] = session.split('.')
      const wanted = Buffer.from(sign(`${time}.${body}`, caller))
      const given = Buffer.from(proof)
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false
      if (parseInt(time, 36) + LIVES_MS < clock.now().getTime()) return false
      if (ended.has(session)) return false
      return redis === null || (await redis.exists(`mcp-ended:${session}`).catch(() => 0)) === 0
    },

    async end(session: string): Promise<void> {
      const now = clock.now().getTime()
      for (const [old, at] of ended) {
        if (at + LIVES_MS > now && ended.size < ENDED_MAX) break
        ended.delete(old)
      }
      ended.set(session, now)
      await redis?.set(`mcp-ended:${session}`, '1', 'PX', LIVES_MS).catch(() => undefined)
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

interface SessionDeps {
  clock: Clock
  redis: Redis | null
  secret: string
}

function holderOf({ keyId, issuer, subject, environment }: Caller): readonly unknown[] {
  return [keyId, issuer, subject, environment]
}

const LIVES_MS = 24 * 3_600_000
const ENDED_MAX = 100_000
