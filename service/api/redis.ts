import { Redis } from 'ioredis'
import type { Log } from '../kit/log.ts'

/**
 * What the processes share for the moment: counts, places, messages. Whoever asks has an answer in half a second or a
 * refusal, whether Redis is gone or just silent: nobody's money waits for a count.
 */
export function openRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: 500,
    // A connection on which nothing comes back is given up, so that the next one is refused at once.
    socketTimeout: 1_000,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(times * 100, 2_000),
  })
  sayOnce(redis, log, 'Redis is away; limits are counted by each process.', 'Redis is back; limits are shared again.')
  return redis
}

/** A line when it goes and one when it comes back, not one for each try. */
export function sayOnce(redis: Redis, log: Log, away: string, back: string): void {
  let isAway = false
  redis.on('error', (error) => {
    if (!isAway) log.warn({ reason: error.message }, away)
    isAway = true
  })
  redis.on('close', () => {
    // Closed without an error, as when the server was told to shut down.
    if (!isAway && redis.status !== 'end') log.warn({}, away)
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) log.info({}, back)
    isAway = false
  })
}
