import { randomUUID } from 'node:crypto'
import type { ProcessLease } from '../../ports/run.ts'
import type { RunsDeps } from './deps.ts'

/**
 * Renews the lease that says that this process lives: a run of a process that has fallen silent is ended and its money
 * released long before its deadline. A process that was only slow finds the hold ended and charges nothing.
 */
export function createHeartbeat({ lease, clock, log, onBeat }: HeartbeatDeps) {
  const name = randomUUID()
  let own: ProcessLease | null = null
  let until = new Date(0)
  let first: Promise<unknown> | null = null
  let beat: NodeJS.Timeout | null = null

  async function renew(): Promise<void> {
    const now = clock.now()
    const next = new Date(now.getTime() + SILENT_MS)
    own ??= lease(name)
    await own.take(now, next)
    until = next
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
                log.warn({ err: error }, 'the heartbeat failed; other processes may end the runs of this process')
              })
          }, BEAT_MS).unref()
        },
        (error: unknown) => {
          first = null
          throw error
        },
      )
      await first
      // The timer has not run since the lease ended: this process stood still.
      if (clock.now() >= until) await renew()
      return name
    },

    async leave(): Promise<void> {
      if (beat !== null) clearInterval(beat)
      await first?.catch(() => undefined)
      await own?.release()
    },
  }
}

export type Heartbeat = ReturnType<typeof createHeartbeat>

interface HeartbeatDeps extends Pick<RunsDeps, 'lease' | 'clock' | 'log'> {
  /** After each renewal: the database answers. */
  onBeat(): Promise<void>
}

const BEAT_MS = 4_000
const SILENT_MS = 20_000
