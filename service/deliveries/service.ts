import { accountOf, type Caller } from '../kit/caller.ts'
import { newId, type Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'
import { deliveryMissing, endpointOff } from './errors.ts'
import type { AnsweredDelivery, DeliveryDetail, Page } from './model.ts'
import type { DeliveryFilter } from './ports.ts'
import { signatureOf } from './rules/signature.ts'
import { createAttempt } from './service/attempt.ts'
import { toAnnouncement } from './service/announcing.ts'
import { createEndpoints } from './service/endpoints.ts'
import { toMail } from './service/notices.ts'
import type { DeliveriesDeps } from './service/parts.ts'
import { createRecord } from './service/record.ts'
import { createSecrets } from './service/secrets.ts'
import { createTargets } from './service/targets.ts'
import { createTelling, type Notice } from './service/telling.ts'
import { createWriting } from './service/write.ts'

/** What has to be told to receivers outside, until they have it. */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, announce, clock } = deps
  const secrets = createSecrets(deps)
  const writing = createWriting(deps)
  const own = createTargets({ ...deps, secrets })
  const telling = createTelling({ ...deps, event: (inside, event) => writing.event(inside, event) })
  const record = createRecord({ ...deps, telling })

  return {
    /** In the caller's transaction: the row, and the announcement of its first attempt. */
    write: writing.write,
    event: writing.event,
    /** For whoever has many events at once: of these accounts, those that anybody would be told for. */
    listeners: deps.targets.listeners.bind(deps.targets),
    targets: own,
    endpoints: createEndpoints({ ...deps, secrets, writing, own }),

    /** True to the first who asks, and to that very act again. Nobody sends a claimed one by itself any more. */
    async claim(
      owner: Owner,
      id: string,
      operation: Id<'op'> = newId('op', clock.now()),
    ): Promise<{ claimed: boolean }> {
      const claimed = await store.claim(owner, id, operation, clock.now())
      if (claimed === null) throw deliveryMissing()
      return { claimed }
    },

    /** Now, under the same `webhook-id`, with the whole schedule before it, to be claimed anew. */
    async redeliver(owner: Owner, id: string, operation: Id<'op'> = newId('op', clock.now())): Promise<DeliveryDetail> {
      const open = await store.isOpen(owner, id)
      if (open === null) throw deliveryMissing()
      if (!open) throw endpointOff()
      await store.inTransaction(async (inside) => {
        const live = await store.redeliver(inside, owner, id, operation, clock.now())
        if (live !== null) await announce(inside, [toAnnouncement(live)])
      })
      return await find(owner, id)
    },

    /** The newest delivery of each subject; of anybody's when no owner is named. */
    async bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>> {
      return subjects.length === 0 ? new Map() : await store.bySubject(owner, subjects)
    },

    async list(caller: Caller, filter: DeliveryFilter, page: Page) {
      return await store.list(accountOf(caller), filter, page)
    },

    async get(caller: Caller, id: string): Promise<DeliveryDetail> {
      return await find(accountOf(caller), id)
    },

    /** What these bytes of a delivery are signed with; null where there is none of this id. For a receiver of ours. */
    async signatureOf(id: string, timestampSeconds: number, body: string): Promise<string | null> {
      const delivery = (await store.load([id])).get(id)
      if (delivery === undefined) return null
      return signatureOf(await secrets.signing(delivery, clock.now()), id, timestampSeconds, body)
    },

    attempt: createAttempt({ ...deps, record, secrets }),
    sweep: record.sweep,

    async mail(notice: Notice & { userId: string }, id: string): Promise<void> {
      await deps.mail(notice.userId, { id, ...toMail(notice) })
    },
  }

  async function find(owner: Owner, id: string): Promise<DeliveryDetail> {
    const delivery = await store.find(owner, id)
    if (delivery === null) throw deliveryMissing()
    return delivery
  }
}

export type Deliveries = ReturnType<typeof createDeliveries>
