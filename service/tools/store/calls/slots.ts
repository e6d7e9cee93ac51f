import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Clock } from '../../../kit/clock.ts'
import type { Slots } from '../../ports/calls.ts'

/**
 * All processes share the slots through Redis, if there is one: a slot is a member of a sorted set that expires, so the
 * slots of a dead process become free. While Redis is unavailable each process counts alone, as it does for rate
 * limits.
 */
export function createSlots(atOnce: number, redis: Redis | null, clock: Clock): Slots {
  const own = inProcess(atOnce)
  if (atOnce === 0) return { atOnce, take: () => Promise.resolve(() => undefined) }
  if (redis === null) return own
  return {
    atOnce,
    async take(key) {
      const [set, member] = [`tool-calls:${key}`, randomUUID()]
      const now = clock.now().getTime()
      let taken: unknown
      try {
        taken = await redis.eval(TAKE, 1, set, String(now), String(now + HELD_MS), String(atOnce), member)
      } catch {
        return await own.take(key)
      }
      if (taken !== 1) return null
      return () => {
        // A slot that cannot be freed now expires.
        redis.zrem(set, member).catch(() => undefined)
      }
    },
  }
}

function inProcess(atOnce: number): Slots {
  const taken = new Map<string, number>()
  return {
    atOnce,
    take(key) {
      const before = taken.get(key) ?? 0
      if (before >= atOnce) return Promise.resolve(null)
      taken.set(key, before + 1)
      let given = false
      return Promise.resolve(() => {
        if (given) return
        given = true
        const left = (taken.get(key) ?? 1) - 1
        if (left === 0) taken.delete(key)
        else taken.set(key, left)
      })
    },
  }
}

const TAKE = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[4])
redis.call('PEXPIREAT', KEYS[1], ARGV[2])
return 1`

/** Longer than the longest call. */
const HELD_MS = 150_000
