import type { Statements } from '../../kit/transaction.ts'
import { FETCHED, type NewDelivery, type NewEvent } from '../model.ts'
import type { Announcement } from '../../queue/model.ts'
import type { DeliveryRow, Live } from '../ports.ts'
import { KEEP_BYTES, KEEP_BYTES_MAX, WAIT_MS, WAIT_MS_MAX } from '../rules/messages.ts'
import { deliveryOf } from '../rules/messages.ts'
import { fetchBy } from '../rules/schedule.ts'
import type { DeliveriesDeps } from './deps.ts'

/** Writes the row and its announcement in the transaction of the change that they report. */
export function createWriting({ store, targets, announce, clock }: WritingDeps) {
  async function add(inside: Statements, rows: readonly DeliveryRow[]): Promise<ReadonlySet<string>> {
    const added = await store.add(inside, rows)
    // One that its receiver fetches is not sent; the sweeper finds it when its time is over.
    const live = rows.filter(({ id, dueAt, createdAt }) => added.has(id) && dueAt <= createdAt)
    await announce(
      inside,
      live.map(({ id, waitMs, dueAt }) => toAnnouncement({ id, turn: 0, waitMs, dueAt })),
    )
    return added
  }

  return {
    async write(inside: Statements, delivery: NewDelivery): Promise<void> {
      const row = toRow(delivery, clock.now())
      const added = await add(inside, [row])
      if (added.size === 0 && !(await store.has(inside, row.id))) {
        throw new Error(`the delivery ${row.id} names a target that is not its owner's`)
      }
    },

    /** One delivery to each endpoint that subscribes to the event. */
    async event(inside: Statements, { id, owner, event, data, headers = {}, bound }: NewEvent): Promise<void> {
      const endpoints = await targets.listening(inside, owner, event)
      if (endpoints.length === 0) return
      const now = clock.now()
      if (bound !== undefined && !(await targets.withinBound(inside, bound, now))) return
      const body = JSON.stringify({ event, data })
      const message = { owner, subject: id, body, headers }
      const rows = endpoints.map(({ id: target, url }) =>
        toRow({ ...message, id: deliveryOf(id, target), to: { target }, fetched: FETCHED.test(url) }, now),
      )
      await add(inside, rows)
    },

    add,
  }
}

export const ATTEMPT = 'deliveries.attempt'
/** Attempts that may take minutes have a separate queue. */
export const LONG_ATTEMPT = 'deliveries.long-attempt'
export const NOTICE = 'deliveries.notice'

export function toAnnouncement({ id, turn, waitMs, dueAt }: Live): Announcement {
  return { topic: waitMs > WAIT_MS ? LONG_ATTEMPT : ATTEMPT, payload: { id, turn }, dueAt }
}

type WritingDeps = Pick<DeliveriesDeps, 'store' | 'targets' | 'announce' | 'clock'>

function toRow(delivery: NewDelivery, now: Date): DeliveryRow {
  const { id, owner, subject, to, body, headers = {}, onUnconfirmed = 'hold' } = delivery
  return {
    id,
    owner,
    subject,
    targetId: 'target' in to ? to.target : null,
    url: 'url' in to ? to.url : null,
    body,
    headers,
    waitMs: within(delivery.waitMs ?? WAIT_MS, 1, WAIT_MS_MAX),
    keepBytes: within(delivery.keepBytes ?? KEEP_BYTES, 0, KEEP_BYTES_MAX),
    onUnconfirmed,
    dueAt: delivery.fetched === true ? fetchBy(now) : now,
    createdAt: now,
  }
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.round(value)))
}
