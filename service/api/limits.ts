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
  return {
    async assertOpen(place) {
      const state = await limiter.get(place)
      if (state !== null && state.consumedPoints >= most) throw refusalOf(state)
    },
    async wrong(place) {
      await limiter.penalty(place)
    },
  }
}

export interface GuessLimit {
  assertOpen(place: string): Promise<void>
  wrong(place: string): Promise<void>
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
