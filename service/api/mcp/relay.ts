import type { Redis } from 'ioredis'
import type { Log } from '../../kit/log.ts'
import { sayOnce } from '../redis.ts'

/**
 * Sends a message to the process that holds the client's connection or runs its call. Without Redis it reaches only
 * this process: an operator who runs several processes without Redis sets the balancer to keep each client on one
 * process.
 */
export interface Relay {
  /** True when a process received it. */
  send(name: string, message: unknown): Promise<boolean>
  /** Receives messages until the returned function is called. */
  receive(name: string, take: (message: unknown) => void): () => void
  close(): Promise<void>
}

export function createRelay(redis: Redis | null, log: Log): Relay {
  const here = new Map<string, (message: unknown) => void>()
  // A Redis connection that subscribes can do nothing else.
  const ear =
    redis === null
      ? null
      : redis.duplicate({
          enableOfflineQueue: true,
          maxRetriesPerRequest: null,
          // Subscriptions that are requested while Redis is unavailable are made when it is back.
          commandTimeout: undefined,
        })
  if (ear !== null)
    sayOnce(
      ear,
      log,
      'messages between processes are not relayed while Redis is unreachable',
      'messages are relayed again',
    )
  ear?.on('message', (channel: string, text: string) => {
    here.get(channel.slice(CHANNEL.length))?.(JSON.parse(text))
  })

  return {
    async send(name, message) {
      const take = here.get(name)
      if (take !== undefined) {
        take(message)
        return true
      }
      if (redis === null) return false
      return (await redis.publish(CHANNEL + name, JSON.stringify(message)).catch(() => 0)) > 0
    },
    receive(name, take) {
      here.set(name, take)
      ear?.subscribe(CHANNEL + name).catch(() => undefined)
      return () => {
        here.delete(name)
        ear?.unsubscribe(CHANNEL + name).catch(() => undefined)
      }
    },
    close() {
      ear?.disconnect()
      return Promise.resolve()
    },
  }
}

const CHANNEL = 'mcp:'
