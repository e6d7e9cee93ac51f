import { Redis } from 'ioredis'
import type { Log } from '../kit/log.ts'

/**
 * Short-lived data that the processes share: counts, slots, messages. A call is answered or fails within half a second,
 * whether Redis is down or only silent: no payment may wait for a count.
 */
export function openRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: 500,
    // A connection without any reply is closed, so that the next command fails at once.
    socketTimeout: 1_000,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(times * 100, 2_000),
  })
  sayOnce(
    redis,
    log,
    'Redis is unreachable; each process counts limits for itself.',
    'Redis is reachable again; limits are shared again.',
  )
  return redis
}

/** Logs one line when Redis goes away and one when it comes back, not one for each attempt. */
export function sayOnce(redis: Redis, log: Log, away: string, back: string): void {
  let isAway = false
  redis.on('error', (error) => {
    if (!isAway) log.warn({ reason: error.message }, away)
    isAway = true
  })
  redis.on('close', () => {
    // Closed without an error, for example when the Redis server was shut down.
    if (!isAway && redis.status !== 'end') log.warn({}, away)
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) log.info({}, back)
    isAway = false
  })
}
