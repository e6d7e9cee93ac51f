import type { Redis } from 'ioredis'
import {
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  type IRateLimiterOptions,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible'
import { DomainError } from '../kit/errors.ts'

export interface Limited {
  /** The standard rate limit headers, set on every answer, not only on a refusal. */
  headers: Record<string, string>
  refusal: DomainError | null
}

/** Counts requests by key: one, or as many as there are in it. */
export type RateLimit = (key: string, requests?: number) => Promise<Limited>

/**
 * Allows `most` requests per minute, or per `seconds`; 0 means no limit. With Redis, all processes share the count.
 * When Redis is unavailable, each process counts for itself: a limit protects the service and must not take it down.
 */
export function createRateLimit(name: string, most: number, redis: Redis | null, seconds = 60): RateLimit {
  if (most === 0) return () => Promise.resolve({ headers: {}, refusal: null })
  const limiter = limiterOf({ keyPrefix: `limit:${name}`, points: most, duration: seconds }, redis)
  return async (key, requests = 1) => {
    try {
      return { headers: headersOf(most, await limiter.consume(key, requests)), refusal: null }
    } catch (reached) {
      if (!(reached instanceof RateLimiterRes)) throw reached
      return { headers: headersOf(most, reached), refusal: refusalOf(reached) }
    }
  }
}

/** Counts what succeeds: what was counted and failed is given back, and may be tried again. */
export function createTakeLimit(name: string, most: number, redis: Redis | null, seconds: number): TakeLimit {
  const limiter = limiterOf({ keyPrefix: `limit:${name}`, points: most, duration: seconds }, redis)
  return {
    async take(key) {
      try {
        await limiter.consume(key)
        return true
      } catch (reached) {
        if (!(reached instanceof RateLimiterRes)) throw reached
        // It counts what it refuses as well.
        await limiter.reward(key)
        return false
      }
    },
    async giveBack(key) {
      await limiter.reward(key)
    },
  }
}

export interface TakeLimit {
  /** False: nothing was counted. */
  take(key: string): Promise<boolean>
  /** For what `take` has counted. */
  giveBack(key: string): Promise<void>
}

/** Bounds wrong guesses in an hour. After too many from one place, right ones are refused there as well. */
export function createGuessLimit(name: string, most: number, redis: Redis | null): GuessLimit {
  const limiter = limiterOf({ keyPrefix: `limit:${name}`, points: most, duration: 3_600 }, redis)
  const last = new Map<string, Promise<unknown>>()

  async function counted<T>(place: string, look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T> {
    let found: T
    try {
      await limiter.consume(place)
      found = await look()
    } catch (error) {
      // It counts what it refuses as well.
      await limiter.reward(place)
      throw error instanceof RateLimiterRes ? refusalOf(error) : error
    }
    if (isRight(found)) await limiter.reward(place)
    return found
  }

  return {
    async guess(place, look, isRight) {
      const turn = (last.get(place) ?? Promise.resolve()).then(() => counted(place, look, isRight))
      const ended = turn.then(
        () => undefined,
        () => undefined,
      )
      last.set(place, ended)
      try {
        return await turn
      } finally {
        if (last.get(place) === ended) last.delete(place)
      }
    },
  }
}

export interface GuessLimit {
  /**
   * Counts a guess before it is looked at, and gives it back where it was right or could not be looked at. Those of one place
   * are looked at one after the other, so that many right ones at once all pass. Throws when there were too many.
   */
  guess<T>(place: string, look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T>
}

/** Throws when this was one request too many. */
export async function count(limit: RateLimit, name: string): Promise<void> {
  const { refusal } = await limit(name)
  if (refusal !== null) throw refusal
}

function limiterOf(options: IRateLimiterOptions, redis: Redis | null): RateLimiterAbstract {
  const memory = new RateLimiterMemory(options)
  if (redis === null) return memory
  return new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter: memory, rejectIfRedisNotReady: true })
}

function headersOf(most: number, state: RateLimiterRes): Record<string, string> {
  return {
    'RateLimit-Limit': String(most),
    'RateLimit-Remaining': String(Math.max(0, state.remainingPoints)),
    'RateLimit-Reset': String(secondsUntil(state)),
  }
}

function refusalOf(state: RateLimiterRes): DomainError {
  const retryAfterSeconds = Math.max(1, secondsUntil(state))
  return new DomainError(
    'limited',
    'rate_limited',
    `Too many requests; try again in ${String(retryAfterSeconds)} seconds.`,
    { retryAfterSeconds },
  )
}

function secondsUntil(state: RateLimiterRes): number {
  return Math.ceil(state.msBeforeNext / 1000)
}
