import type { Redis } from 'ioredis'
import type { Log } from '../../kit/log.ts'
import { sayOnce } from '../redis.ts'

/**
 * Brings a message to the process that has somebody's connection or call. Without Redis there is only this process to
 * bring it to: whoever runs several without one has the balancer keep a client with its process.
 */
export interface Relay {
  /** Whether anybody was there to take it. */
  send(name: string, message: unknown): Promise<boolean>
  /** From now on until what is returned is called. */
  receive(name: string, take: (message: unknown) => void): () => void
  close(): Promise<void>
}

export function createRelay(redis: Redis | null, log: Log): Relay {
  const here = new Map<string, (message: unknown) => void>()
  // A connection that listens can do nothing else.
  const ear =
    redis === null
      ? null
      : redis.duplicate({
          enableOfflineQueue: true,
          maxRetriesPerRequest: null,
          // What was wished for while Redis is away is done when it is back.
          commandTimeout: undefined,
        })
  if (ear !== null)
    sayOnce(ear, log, 'messages between processes are not relayed while Redis is away', 'messages are relayed again')
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
