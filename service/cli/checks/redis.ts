import { Redis } from 'ioredis'
import { fault, fine, reasonOf, warning, type Finding, type CheckContext } from './model.ts'

/** Whether Redis is there and throws nothing away that the queue put into it. */
export async function checkRedis({ config, now }: CheckContext): Promise<readonly Finding[]> {
  if (config.REDIS_URL === undefined) {
    return [fine('redis', 'Not used: the queue is in PostgreSQL, and each process counts its limits for itself.')]
  }
  const redis = new Redis(config.REDIS_URL, {
    lazyConnect: true,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let reason: unknown = null
  redis.on('error', (error) => (reason ??= error))
  try {
    await redis.connect()
    const sent = now()
    const [seconds, micros] = (await redis.time()) as [number | string, number | string]
    const skewMs = Math.abs(Number(seconds) * 1_000 + Number(micros) / 1_000 - (sent + now()) / 2)
    return [version(await redis.info('server')), await policy(redis), clock(skewMs)]
  } catch (error) {
    return [fault('redis', `Redis cannot be reached: ${reasonOf(reason ?? error)}. Check REDIS_URL and the server.`)]
  } finally {
    redis.disconnect()
  }
}

function version(info: string): Finding {
  const [, found = '0'] = /redis_version:([\d.]+)/.exec(info) ?? []
  const [major = 0, minor = 0] = found.split('.').map(Number)
  return major > 6 || (major === 6 && minor >= 2)
    ? fine('redis', `Redis ${found} answers.`)
    : fault('redis', `Redis ${found} is too old for the queue: 6.2 or newer is needed.`)
}

async function policy(redis: Redis): Promise<Finding> {
  const check = 'redis eviction'
  const found = await redis.config('GET', 'maxmemory-policy').catch(() => null)
  const set = Array.isArray(found) ? String(found[1]) : undefined
  if (set === undefined)
    return warning(check, 'The server does not report its maxmemory-policy: it must be noeviction.')
  return set === 'noeviction'
    ? fine(check, 'noeviction.')
    : fault(check, `maxmemory-policy is ${set}: when memory runs out, Redis deletes jobs of the queue. Set noeviction.`)
}

function clock(skewMs: number): Finding {
  const seconds = (skewMs / 1_000).toFixed(1)
  return skewMs <= SKEW_MS
    ? fine('redis clock', `Agrees with this machine's to ${seconds} s.`)
    : fault('redis clock', `Is ${seconds} s off this machine's. Run NTP on both.`)
}

const SKEW_MS = 2_000
