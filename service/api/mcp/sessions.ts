import type { Redis } from 'ioredis'
import type { Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { newId, type Id } from '../../kit/ids.ts'
import { createSigner } from '../../kit/hash.ts'
import { createUsedNames } from './used-names.ts'

/**
 * A session's id names its owner and proves it, so no process has to store it. An ended session is remembered until it
 * would have expired: by all processes if they share a Redis, otherwise by this one only.
 */
export function createSessions({ clock, redis, secret }: SessionDeps) {
  const signer = createSigner(secret, 'coinslot mcp sessions')
  const ended = createUsedNames({ clock, redis, prefix: 'mcp-ended', liveMs: LIVES_MS })

  return {
    /** `opensPages`: the client can show a page to its person, which it says only here. */
    begin(caller: Caller, opensPages: boolean): string {
      const mark = opensPages ? OPENS_PAGES : ''
      const id = `${clock.now().getTime().toString(36)}.${mark}${newId('req', clock.now()).slice(4)}`
      return `${id}.${signer.sign([id, holderOf(caller)])}`
    },

    /** True when this same caller began the session. */
    async check(session: string, caller: Caller): Promise<boolean> {
      const [time = '', body = '', proof = ''] = session.split('.')
      if (!signer.isSigned([`${time}.${body}`, holderOf(caller)], proof)) return false
      if (parseInt(time, 36) + LIVES_MS < clock.now().getTime()) return false
      return !(await ended.has(session))
    },

    /** An operation's id that belongs to this session, whose client opens pages; null where it opens none. */
    pagesOf(session: string): Id<'op'> | null {
      const [, body = ''] = session.split('.')
      return body.startsWith(OPENS_PAGES) ? `op_${body.slice(OPENS_PAGES.length)}` : null
    },

    async end(session: string): Promise<void> {
      await ended.use(session)
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

interface SessionDeps {
  clock: Clock
  redis: Redis | null
  secret: string
}

/** What identifies the caller in signed names. */
export function holderOf({ keyId, issuer, subject, environment }: Caller): readonly unknown[] {
  return [keyId, issuer, subject, environment]
}

/** No id begins with this letter. */
const OPENS_PAGES = 'u'
const LIVES_MS = 24 * 3_600_000
