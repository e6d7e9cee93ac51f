import { Batch } from '../../kit/batch.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Concluded, Live, Locked, Redirected, Wait } from '../ports.ts'
import { afterFailure, fetchableSince, isGivenUp, type Decision } from '../rules/schedule.ts'
import type { DeliveriesDeps } from './deps.ts'
import type { Notices } from './notices.ts'
import { toAnnouncement } from './write.ts'

/**
 * Records the results of attempts and their consequences: state, attempt and next announcement in one commit. Results
 * of the same moment are written together.
 */
export function createRecord(deps: RecordDeps) {
  const { store, targets, announce, clock, chance, notices } = deps

  const confirmations = batchOf<Concluded>((done) => store.confirm(done))
  const failures = batchOf<Ending>((endings) => store.inTransaction((inside) => end(inside, endings)))
  const waits = batchOf<Wait>((list) =>
    store.inTransaction(async (inside) => announceAll(inside, await store.postpone(inside, list))),
  )

  async function end(inside: Statements, endings: readonly Ending[]): Promise<void> {
    const now = clock.now()
    const locked = await store.lock(
      inside,
      endings.map(({ id }) => id),
    )
    const changes: { before: Locked; to: Redirected }[] = []
    const late: Concluded[] = []
    const moved = new Set<string>()
    for (const ending of endings) {
      const before = locked.get(ending.id)
      if (before === undefined) continue
      // If it was sent again by hand meanwhile, or ended by another process, the attempt is recorded and changes
      // nothing else.
      if (isCurrent(before, ending) && !moved.has(ending.id)) {
        moved.add(ending.id)
        changes.push({ before, to: redirected(before, ending, now) })
      } else if (ending.attempt !== null) late.push(ending.attempt)
    }
    await store.redirect(
      inside,
      changes.map(({ to }) => to),
    )
    if (late.length > 0) await store.keep(inside, late)
    await announceAll(
      inside,
      changes.flatMap(({ before, to }) =>
        to.dueAt === null ? [] : [{ id: to.id, turn: before.turn + 1, waitMs: before.waitMs, dueAt: to.dueAt }],
      ),
    )
    for (const { before, to } of changes) {
      if (to.notice !== null) await notices.ofDelivery(inside, to.notice, before)
      const { owner, target, subject } = before
      if (to.dueAt === null && target !== null) {
        await deps.publish(inside, { kind: 'delivery.failed', owner, target, subject })
      }
    }
    await giveUp(inside, endings, now)
  }

  function redirected(before: Locked, { decision, attempt, error, silent }: Ending, now: Date): Redirected {
    const course = afterFailure(before, decision, now, chance())
    return { ...course, notice: silent === true ? null : course.notice, id: before.id, attempt, error }
  }

  /** An endpoint is disabled after five days without a success. */
  async function giveUp(inside: Statements, endings: readonly Ending[], now: Date): Promise<void> {
    const failed = new Set(endings.flatMap(({ attempt }) => (attempt?.target == null ? [] : [attempt.target])))
    if (failed.size === 0) return
    const failing = await targets.failing(inside, [...failed], now)
    const hopeless = failing.filter(({ since }) => isGivenUp(since, now)).map(({ id }) => id)
    if (hopeless.length === 0) return
    for (const endpoint of await targets.disable(inside, hopeless, now)) await notices.ofEndpoint(inside, endpoint)
  }

  async function announceAll(inside: Statements, live: readonly Live[]): Promise<void> {
    await announce(inside, live.map(toAnnouncement))
  }

  return {
    confirmed: (attempt: Concluded) => confirmations.add(attempt),
    failed: (ending: Ending) => failures.add(ending),
    wait: (wait: Wait) => waits.add(wait),

    /** A receiver that has confirmed nothing for as long as a delivery waits to be fetched gets no more. */
    async unfetched(target: string): Promise<void> {
      const now = clock.now()
      await store.inTransaction(async (inside) => {
        const disabled = await targets.disableUnfetched(inside, target, { since: fetchableSince(now), now })
        if (disabled !== null) await notices.ofEndpoint(inside, disabled)
      })
    },

    /** Ends claims that were not confirmed in time, and announces again the attempts of dead processes. */
    async sweep(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const ids = await store.overdueClaims(clock.now(), SWEPT)
        const endings = ids.map((id): Ending => ({ id, turn: null, attempt: null, error: null, decision: 'failed' }))
        if (endings.length > 0) await store.inTransaction((inside) => end(inside, endings))
        if (ids.length < SWEPT) break
      }
      while (!signal.aborted) {
        const now = clock.now()
        const found = await store.inTransaction(async (inside) => {
          const live = await store.overdueAttempts(inside, new Date(now.getTime() - LOST_MS), now, SWEPT)
          await announceAll(inside, live)
          return live.length
        })
        if (found < SWEPT) break
      }
    },
  }
}

/** An attempt without a confirmation, or an end without an attempt. */
export interface Ending {
  id: string
  /** Null for the current turn. */
  turn: number | null
  attempt: Concluded | null
  error: string | null
  decision: Exclude<Decision, 'confirmed'>
  /** The owner gets no notice. */
  silent?: true
}

type RecordDeps = Pick<DeliveriesDeps, 'store' | 'targets' | 'announce' | 'publish' | 'clock' | 'chance'> & {
  notices: Notices
}

const SWEPT = 200

/** Longer than an attempt, its waits in the process and a full queue take together. */
const LOST_MS = 15 * 60_000

function isCurrent(before: Locked, { turn }: Ending): boolean {
  if (turn === null) return before.state === 'claimed'
  return before.turn === turn && (before.state === 'pending' || before.state === 'claimed')
}

function batchOf<Item>(run: (items: readonly Item[]) => Promise<void>): Batch<Item, true> {
  return new Batch({
    largest: 500,
    async run(items) {
      await run(items)
      return items.map(() => true)
    },
  })
}
