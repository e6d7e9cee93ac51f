import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Endpoint, EventName, NewEvent } from '../model.ts'
import type { Announce, Locked } from '../ports.ts'
import type { Course } from '../rules/schedule.ts'
import { NOTICE } from './announcing.ts'

/** Tells an owner what became of theirs: an event for their endpoints and a mail, both in the very commit. */
export function createTelling({ announce, event, clock }: TellingDeps) {
  async function tell(inside: Statements, what: Omit<NewEvent, 'id'>, notice: Notice): Promise<void> {
    await event(inside, { ...what, id: newId('evt', clock.now()) })
    await announce(inside, [{ topic: NOTICE, payload: { userId: what.owner.userId, ...notice } }])
  }

  return {
    async ofDelivery(
      inside: Statements,
      name: NonNullable<Course['told']>,
      { id, subject, owner }: Locked,
    ): Promise<void> {
      // Of an event that did not arrive no further event is told: it would hardly fare better.
      if (subject.startsWith('evt_')) return
      await tell(inside, { owner, event: name, data: endOf({ id, subject }) }, { event: name, id, about: subject })
    },

    async ofEndpoint(inside: Statements, endpoint: Endpoint): Promise<void> {
      const { id, url, owner } = endpoint
      const data = disabledOf(endpoint)
      await tell(inside, { owner, event: 'endpoint.disabled', data }, { event: 'endpoint.disabled', id, about: url })
    },
  }
}

/** What endpoints receive of a delivery that did not arrive. */
export function endOf({ id, subject }: Pick<Locked, 'id' | 'subject'>) {
  return { id, subject }
}

/** What the others receive of an endpoint that was disabled. */
export function disabledOf({ id, url, failingSince }: Pick<Endpoint, 'id' | 'url' | 'failingSince'>) {
  return { id, url, failingSince: failingSince?.toISOString() ?? null }
}

export type Telling = ReturnType<typeof createTelling>

interface TellingDeps {
  announce: Announce
  event(inside: Statements, event: NewEvent): Promise<void>
  clock: Clock
}

/** What a mail says: which event, of what, about what. */
export interface Notice {
  event: Extract<EventName, NonNullable<Course['told']> | 'endpoint.disabled'>
  id: string
  about: string
}
