import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import type { Log } from '../../../kit/log.ts'
import type { Heartbeat } from '../../ports/run.ts'

/**
 * Says that this process lives, as long as it does: a run of one that has fallen silent is ended and its money
 * given back long before its deadline. Whoever was only slow finds the lock ended and charges nothing.
 */
export function createPresence({ heartbeat: heartbeat, clock, log, onBeat }: PresenceDeps) {
  const name = randomUUID()
  let own: Heartbeat | null = null
  let first: Promise<unknown> | null = null
  let beat: NodeJS.Timeout | null = null

  async function renew(): Promise<void> {
    const now = clock.now()
    own ??= heartbeat(name)
    await own.take(now, new Date(now.getTime() + SILENT_MS))
  }

  return {
    /** The name under which this process is known to live by the time this resolves. */
    async announce(): Promise<string> {
      first ??= renew().then(
        () => {
          beat = setInterval(() => {
            renew()
              .then(onBeat)
              .catch((error: unknown) => {
                log.warn({ err: error }, 'this process could not say that it lives; its runs may be given up')
              })
          }, BEAT_MS).unref()
        },
        (error: unknown) => {
          first = null
          throw error
        },
      )
      await first
      return name
    },

    async leave(): Promise<void> {
      if (beat !== null) clearInterval(beat)
      await first?.catch(() => undefined)
      await own?.release()
    },
  }
}

export type Presence = ReturnType<typeof createPresence>

interface PresenceDeps {
  heartbeat(process: string): Heartbeat
  clock: Clock
  log: Log
  /** After each renewal: the database answers. */
  onBeat(): Promise<void>
}

const BEAT_MS = 4_000
const SILENT_MS = 20_000
