import { deriveId } from '../../../kit/ids.ts'
import type { Log } from '../../../kit/log.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { RunnableAsset } from '../../model/asset.ts'
import type { EndedRun, RunDeliveries, RunEvent } from '../../ports/run.ts'

/** Writes what others are to hear of runs: webhooks, events and mails. */
export function createReports({ deliveries, toEvent, mail, freeRunsPerDay, log }: ReportDeps) {
  /** One query for all of them: most accounts have no endpoint for events. */
  async function reportToEndpoints(inside: Statements, ended: readonly EndedRun[]): Promise<void> {
    const owners = new Map(ended.map(({ run }) => [keyOf(run), ownerOf(run)]))
    const listeners = await deliveries.listeners(inside, [...owners.values()], ['run.completed', 'run.failed'])
    const listening = new Set(listeners.map(keyOf))
    for (const end of ended.filter(({ run }) => listening.has(keyOf(run)))) {
      await deliveries.event(inside, { id: deriveId('evt', end.id), owner: ownerOf(end.run), ...toEvent(end) })
    }
  }

  return {
    async reportEnds(inside: Statements, ended: readonly EndedRun[]): Promise<void> {
      for (const end of ended) {
        const { id, run } = end
        if (run.webhookUrl === null) continue
        const body = JSON.stringify(toEvent(end))
        const to = { url: run.webhookUrl }
        await deliveries.write(inside, { id: deriveId('dlv', id), owner: ownerOf(run), subject: id, to, body })
      }
      await reportToEndpoints(inside, ended)
    },

    async reportFreeRuns(
      { userId, environment }: Owner,
      asset: Pick<RunnableAsset, 'id' | 'name'> | null,
      resetsAt: Date,
    ): Promise<void> {
      const until = resetsAt.toISOString()
      const times =
        asset === null
          ? `Your free prompts (${environment}) have been run ${String(freeRunsPerDay)} times today`
          : `Your free prompt "${asset.name}" (${environment}) has been run as often today as its freeRunsPerDay allows`
      // A mail that cannot be sent must not fail the run: it is refused either way.
      await mail(userId, {
        id: `free-runs-${environment}-${asset?.id ?? userId}-${until}`,
        subject: 'Your free runs are used up for today',
        text: `${times}. You do not pay for more runs in one day.\n\nFurther free runs are refused until ${until}. To allow more runs, set a price or raise freeRunsPerDay of the prompt.\n`,
      }).catch((error: unknown) => log.warn({ err: error }, 'the mail about used-up free runs could not be sent'))
    },
  }
}

interface ReportDeps {
  deliveries: RunDeliveries
  toEvent(end: EndedRun): RunEvent
  mail(userId: string, mail: { id: string; subject: string; text: string }): Promise<unknown>
  /** The server's own bound, for creators that have set none. */
  freeRunsPerDay: number
  log: Log
}

function ownerOf({ userId, environment }: Owner): Owner {
  return { userId, environment }
}

function keyOf({ userId, environment }: Owner): string {
  return `${environment} ${userId}`
}
