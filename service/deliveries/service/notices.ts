import type { Clock } from '../../kit/clock.ts'
import { isId, newId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { turnOf } from '../../queue/model.ts'
import { FETCHED, type Endpoint, type EventName, type NewEvent } from '../model.ts'
import type { Announce, Locked } from '../ports.ts'
import type { Course } from '../rules/schedule.ts'
import { NOTICE } from './write.ts'

/** Notifies an owner with an event for their endpoints and a mail, in the same transaction. */
export function createNotices({ announce, event, clock }: NoticesDeps) {
  async function send(inside: Statements, news: Omit<NewEvent, 'id'>, notice: Notice | null): Promise<void> {
    await event(inside, { ...news, id: newId('evt', clock.now()) })
    if (notice === null) return
    const { owner } = news
    await announce(inside, [{ topic: NOTICE, payload: { userId: owner.userId, ...notice }, turn: turnOf(owner) }])
  }

  return {
    async ofDelivery(inside: Statements, name: DeliveryNotice, { id, subject, owner, target }: Locked): Promise<void> {
      // If an event's own delivery fails, no further event is sent: it would probably not arrive either.
      if (subject.startsWith('evt_')) return
      // A checkout's owner chose whether to be mailed: the checkout does that, where `ended` calls it.
      const notice = target !== null && isId('chk', target) ? null : { event: name, id, about: subject }
      await send(inside, { owner, event: name, data: endOf({ id, subject }) }, notice)
    },

    async ofEndpoint(inside: Statements, endpoint: Endpoint): Promise<void> {
      const { id, url, owner } = endpoint
      const data = disabledOf(endpoint)
      await send(inside, { owner, event: 'endpoint.disabled', data }, { event: 'endpoint.disabled', id, about: url })
    },
  }
}

/** The event's data for a delivery that did not arrive. */
export function endOf({ id, subject }: Pick<Locked, 'id' | 'subject'>) {
  return { id, subject }
}

/** The event's data, for the other endpoints, when an endpoint is disabled. */
export function disabledOf({ id, url, failingSince }: Pick<Endpoint, 'id' | 'url' | 'failingSince'>) {
  return { id, url, failingSince: failingSince?.toISOString() ?? null }
}

export type Notices = ReturnType<typeof createNotices>

interface NoticesDeps {
  announce: Announce
  event(inside: Statements, event: NewEvent): Promise<void>
  clock: Clock
}

type DeliveryNotice = NonNullable<Course['notice']>

/** The subject of a mail. */
export interface Notice {
  event: Extract<EventName, DeliveryNotice | 'endpoint.disabled'>
  id: string
  about: string
}

/**
 * The mail to the owner, in plain text. `status`: the receiver's last answer, where it is known. `isOver`: it cannot be
 * redelivered.
 */
export function toMail(
  { event, id, about }: Notice,
  { status = null, isOver = false }: { status?: number | null; isOver?: boolean } = {},
): { subject: string; text: string } {
  const again = (sentence: string): string => (isOver ? '' : `${sentence}\n`)
  switch (event) {
    case 'delivery.unconfirmed':
      return {
        subject: 'A paid delivery was not confirmed',
        text: `Your workflow accepted the delivery ${id} (for ${about}) but did not confirm it.

It may have run, completely or in part, so the delivery is not sent again automatically. Check what the workflow did.
${again(`If it has to run again, redeliver ${id}.`)}`,
      }
    case 'delivery.stopped':
      return {
        subject: 'A paid delivery was rejected',
        text: `The receiver of the delivery ${id} (for ${about}) answered ${String(status ?? 410)}, so it is not sent again.

${again(`If that is a mistake, fix the receiver and redeliver ${id}.`)}`,
      }
    case 'delivery.exhausted':
      return {
        subject: 'A paid delivery could not be delivered',
        text: `The delivery ${id} (for ${about}) failed at every attempt, and there are no more attempts.

${again(`Once its receiver works again, redeliver ${id}.`)}`,
      }
    case 'endpoint.disabled':
      return {
        subject: 'A webhook endpoint was disabled',
        text: FETCHED.test(about)
          ? `Nothing at ${about} confirmed a delivery for seven days, so the endpoint ${id} was disabled and gets no more events.

Start coinslot listen under the same name, or enable the endpoint.
`
          : `Every delivery to ${about} failed for five days, so the endpoint ${id} was disabled and gets no more events.

Once it works again, enable it.
`,
      }
  }
}
