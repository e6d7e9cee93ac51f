import { ownerOf, type Caller } from '../../kit/caller.ts'
import type { Owner } from '../../kit/owner.ts'
import { Recent } from '../../kit/recent.ts'
import type { RefundTerms } from '../../x402/model.ts'
import { disputeEnded, disputeMissing } from '../errors.ts'
import type { DisputeState, RefundPolicy, SellerAnswer, ShownDispute, TrackRecord } from '../model.ts'
import { DAY_MS, isAnsweredBy, trackRecordOf } from '../rules.ts'
import type { DisputeDeps } from './deps.ts'
import { createDeciding } from './deciding.ts'
import { openedMail } from './mail.ts'
import { createReporting } from './reporting.ts'
import { createRequests } from './requests.ts'

/** Problems with payments, from a buyer's report to its end. */
export function createDisputes(deps: DisputeDeps) {
  const { store, clock } = deps
  const deciding = createDeciding(deps)
  const reporting = createReporting({ ...deps, deciding })
  const requests = createRequests({ ...deps, deciding, reporting })
  const records = new Recent<string, TrackRecord | null>(REMEMBERED_MAX, { clock, forMs: REMEMBERED_MS })
  const policies = new Recent<string, RefundPolicy>(REMEMBERED_MAX, { clock, forMs: REMEMBERED_MS })

  async function find(owner: Owner, id: string): Promise<ShownDispute> {
    const found = await store.findOwn(owner, id)
    if (found === null) throw disputeMissing()
    return found
  }

  return {
    report: reporting.report,
    status: reporting.status,
    ask: requests.ask,
    look: requests.look,
    follow: deciding.follow,
    sweepers: deciding.sweepers,
    ofSale: (saleId: string) => store.ofSale(saleId),

    get: (caller: Caller, id: string) => find(ownerOf(caller), id),
    list: (caller: Caller, state: DisputeState | null, page: { limit: number; offset: number }) =>
      store.list(ownerOf(caller), state, page),

    async answer(caller: Caller, id: string, answer: SellerAnswer): Promise<ShownDispute> {
      const { action, amount, text } = answer
      const owner = ownerOf(caller)
      const found = await find(owner, id)
      const { dispute } = found
      // The same answer again, after the first one's result was lost.
      if (isAnsweredBy(dispute, answer)) return found
      if (dispute.state !== 'open') throw disputeEnded(dispute.state)
      if (action === 'refund') await deciding.refund(dispute, { amount, by: 'seller', answer: text })
      else if ((await deciding.end(dispute, { state: 'declined', by: 'seller', answer: text })) === null) {
        throw disputeEnded((await find(owner, id)).dispute.state)
      }
      return await find(owner, id)
    },

    policy: (caller: Caller) => store.policy(ownerOf(caller)),

    async changePolicy(caller: Caller, change: Partial<RefundPolicy>): Promise<RefundPolicy> {
      const owner = ownerOf(caller)
      const changed = await store.changePolicy(owner, change, clock.now())
      policies.drop(keyOf(owner))
      return changed
    },

    /** What a 402 says about refunds. Null where the seller gives none by request. */
    async terms(owner: Owner): Promise<RefundTerms | null> {
      const known = policies.get(keyOf(owner))
      const policy = known ?? (await store.policy(owner))
      if (known === undefined) policies.put(keyOf(owner), policy)
      const { windowDays, partialRefunds } = policy
      if (windowDays === 0) return null
      return { refundEndpoint: requests.endpoint, windowSeconds: (windowDays * DAY_MS) / 1_000, partialRefunds }
    },

    /** How the last sales of a checkout went. Null while there are too few. */
    async trackRecord(checkout: string): Promise<TrackRecord | null> {
      const known = records.get(checkout)
      if (known !== undefined) return known
      const record = trackRecordOf(await store.counted(checkout))
      records.put(checkout, record)
      return record
    },

    /** Tells the seller by mail, unless many were reported on this day: the list has them all. */
    async tellOpened(id: string, mail: string): Promise<void> {
      const dispute = await store.find(id)
      if (dispute?.state !== 'open') return
      const since = new Date(dispute.createdAt.getTime() - DAY_MS)
      if ((await store.countSince(dispute.owner, since, MAILS_PER_DAY + 1)) > MAILS_PER_DAY) return
      const sale = await deps.sales.findOwn(dispute.owner, dispute.saleId)
      const opened = openedMail(dispute, sale, `${deps.addresses.dashboard}/disputes`)
      await deps.mailOwner(dispute.owner.userId, { id: mail, ...opened })
    },
  }
}

export type Disputes = ReturnType<typeof createDisputes>

function keyOf({ userId, environment }: Owner): string {
  return `${environment} ${userId}`
}

const REMEMBERED_MAX = 10_000
const REMEMBERED_MS = 60_000
const MAILS_PER_DAY = 20
