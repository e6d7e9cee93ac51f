import { accountOf, type Caller } from '../../kit/caller.ts'
import { newId, type Id } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import { deliveryMissing, endpointOff, redeliveryRefused } from '../errors.ts'
import { FETCHED, type AnsweredDelivery, type DeliveryDetail, type Page } from '../model.ts'
import type { DeliveryFilter } from '../ports.ts'
import { signatureOf } from '../rules/messages.ts'
import { fetchBy } from '../rules/schedule.ts'
import { createAttempt } from './attempt.ts'
import { createEndpoints } from './endpoints.ts'
import { createFetching } from './fetching.ts'
import { createNotices, toMail, type Notice } from './notices.ts'
import type { DeliveriesDeps } from './deps.ts'
import { createRecord } from './record.ts'
import { createSecrets } from './secrets.ts'
import { createTargets } from './targets.ts'
import { createWriting, toAnnouncement } from './write.ts'

/** Sends messages to receivers until they are confirmed. */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, announce, clock } = deps
  const secrets = createSecrets(deps)
  const writing = createWriting(deps)
  const targets = createTargets({ ...deps, secrets })
  const notices = createNotices({ ...deps, event: writing.event })
  const record = createRecord({ ...deps, notices })

  return {
    /** Writes the row and the announcement of its first attempt in the caller's transaction. */
    write: writing.write,
    event: writing.event,
    /** The accounts among these that have an endpoint for one of the events. */
    listeners: deps.targets.listeners.bind(deps.targets),
    targets,
    endpoints: createEndpoints({ ...deps, secrets, writing, ownTargets: targets }),

    fetching: createFetching({ ...deps, secrets }),

    /** True for the first caller, and for that operation again. A claimed delivery is not sent again automatically. */
    async claim(
      owner: Owner,
      id: string,
      operation: Id<'op'> = newId('op', clock.now()),
    ): Promise<{ claimed: boolean }> {
      const claimed = await store.claim(owner, id, operation, clock.now())
      if (claimed === null) throw deliveryMissing()
      return { claimed }
    },

    /** Sends it now, under the same `webhook-id`, with a full schedule and an open claim. */
    async redeliver(owner: Owner, id: string, operation: Id<'op'> = newId('op', clock.now())): Promise<DeliveryDetail> {
      const open = await store.isOpen(owner, id)
      if (open === null) throw deliveryMissing()
      if (!open) throw endpointOff()
      const { subject, url } = await find(owner, id)
      await store.inTransaction(async (inside) => {
        if (!(await deps.mayRedeliver(inside, subject))) throw redeliveryRefused()
        const now = clock.now()
        const dueAt = FETCHED.test(url) ? fetchBy(now) : now
        const live = await store.redeliver(inside, { owner, id }, operation, dueAt)
        if (live === null) return
        await announce(inside, [toAnnouncement(live)])
        await deps.publish(inside, { kind: 'delivery.redelivered', subject })
      })
      return await find(owner, id)
    },

    /** No further attempt is made, in the transaction of what made it void. A claimed one goes on. */
    stop: (inside: Statements, id: string, error: string): Promise<void> => store.stop(inside, id, error),

    /** The newest delivery of each subject; for all owners when the owner is null. */
    async bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>> {
      return subjects.length === 0 ? new Map() : await store.bySubject(owner, subjects)
    },

    async list(caller: Caller, filter: DeliveryFilter, page: Page) {
      return await store.list(accountOf(caller), filter, page)
    },

    async get(caller: Caller, id: string): Promise<DeliveryDetail> {
      return await find(accountOf(caller), id)
    },

    /**
     * The signature of a delivery with this body, for this service's own receiver; null when there is no such delivery.
     */
    async signatureOf(id: string, timestampSeconds: number, body: string): Promise<string | null> {
      const delivery = (await store.load([id])).get(id)
      if (delivery === undefined) return null
      return signatureOf(await secrets.signing(delivery, clock.now()), id, timestampSeconds, body)
    },

    attempt: createAttempt({ ...deps, record, secrets }),
    sweep: record.sweep,

    async mail(notice: Notice & { userId: string }, { id, attempt }: { id: string; attempt: number }): Promise<void> {
      await deps.mail(notice.userId, { id, ...toMail(notice) }, { kind: notice.event, attempt })
    },
  }

  async function find(owner: Owner, id: string): Promise<DeliveryDetail> {
    const delivery = await store.find(owner, id)
    if (delivery === null) throw deliveryMissing()
    return delivery
  }
}

export type Deliveries = ReturnType<typeof createDeliveries>
