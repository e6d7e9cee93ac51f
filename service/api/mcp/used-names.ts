import type { Redis } from 'ioredis'
import type { Clock } from '../../kit/clock.ts'

/**
 * Remembers names that must not be used again, until they would have expired: by all processes if they share a Redis,
 * otherwise by this one only.
 */
export function createUsedNames({ clock, redis, prefix, liveMs }: UsedNamesDeps) {
  const here = new Map<string, number>()

  return {
    async has(name: string): Promise<boolean> {
      if (here.has(name)) return true
      return redis !== null && (await redis.exists(`${prefix}:${name}`).catch(() => 0)) > 0
    },

    /** False when it was used before. */
    async use(name: string): Promise<boolean> {
      const now = clock.now().getTime()
      for (const [old, at] of here) {
        if (at + liveMs > now && here.size < USED_MAX) break
        here.delete(old)
      }
      if (here.has(name)) return false
      here.set(name, now)
      if (redis === null) return true
      return (await redis.set(`${prefix}:${name}`, '1', 'PX', liveMs, 'NX').catch(() => 'OK')) === 'OK'
    },
  }
}

interface UsedNamesDeps {
  clock: Clock
  redis: Redis | null
  prefix: string
  liveMs: number
}

const USED_MAX = 100_000
