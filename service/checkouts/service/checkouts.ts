import type { Attempted } from '../../deliveries/model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { deriveId, isId, newId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { tokenHash } from '../../sales/service/proof.ts'
import { checkoutMissing, draftMissing, tooManyDrafts } from '../errors.ts'
import type { Terms } from '../model.ts'
import type { CheckoutView, PaymentView } from '../views.ts'
import { FAILED_STATUS } from '../rules/capture.ts'
import { placeOf } from '../rules/plans.ts'
import type { Address } from '../../chain/model.ts'
import { assertShown, HELD, newCheckout, statusOf } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'
import { createBuying } from './buy.ts'
import { createChats } from './chat.ts'
import { createCapturing, type Report } from './capture.ts'
import { createPaymentEvents } from './payment-events.ts'
import { createFollowing } from './follow.ts'
import { createLife, withFiles } from './lifecycle.ts'
import { createPurchases } from './purchases.ts'
import { createShowing } from './presenter.ts'
import { createProgress } from './progress.ts'
import { createRequests } from './requests.ts'
import { createOpenings } from './openings.ts'
import { createNotices } from './notices.ts'
import { createCheckoutTools } from './tools.ts'
import { createUploads } from './uploads.ts'
import { createWatching } from './watch.ts'

/** Prices on workflows, and their sales. */
export function createCheckouts(deps: CheckoutDeps) {
  const events = createPaymentEvents(deps)
  const showing = createShowing(deps)
  const watching = createWatching(deps)
  const capturing = createCapturing(deps)
  const notices = createNotices(deps)
  const { expireRequests, ...requests } = createRequests(deps)
  const { looks, withRefunds, named, find, ...purchases } = createPurchases({ ...deps, showing })
  return {
    ...createLife(deps),
    ...createBuying({ ...deps, events, showing, watching, purchases }),
    ...createFollowing({ ...deps, showing, purchases: { looks, withRefunds, named, find } }),
    ...purchases,
    ...requests,
    ...createChats({ ...deps, showing }),
    ...createUploads(deps),
    ...createProgress({ ...deps, showing, purchases: { find } }),
    ...createCheckoutTools(deps),
    /** For the holder of a pass: what is left of it. For a wallet: what is left of its trial. */
    async passOf(id: string, { token, address }: { token: string | null; address: Address | null }) {
      const checkout = assertShown(await deps.store.find(id), deps.clock.now())
      const place = placeOf(checkout, showing.addressOf(checkout))
      const pass = token === null ? null : await deps.passes.byToken(place, token)
      return { pass, trialRunsLeft: address === null ? null : await deps.passes.trialsLeft(place, address) }
    },

    /** Stores what stands in the page's form, so that it can be paid on another device: at the address that it answers. */
    async putDraft(id: string, { token, content }: { token: string; content: string }) {
      const now = deps.clock.now()
      const checkout = assertShown(await deps.store.find(id), now)
      const until = new Date(now.getTime() + DRAFT_MS)
      const isStored = await deps.store.putDraft({ tokenHash: tokenHash(token), checkout: id, content, until }, now)
      if (!isStored) throw tooManyDrafts()
      return { url: `${showing.addressOf(checkout)}?draft=${token}`, expiresAt: until.toISOString() }
    },
    async draft(id: string, token: string): Promise<string> {
      const content = await deps.store.findDraft(tokenHash(token), id, deps.clock.now())
      if (content === null) throw draftMissing()
      return content
    },

    /** Also where it has expired: what was bought there is still answered. Whether it sells is asked with the price. */
    async known(id: string): Promise<CheckoutView> {
      const checkout = await deps.store.find(id)
      if (checkout === null) throw checkoutMissing()
      return showing.checkout(checkout)
    },

    /** Null where it sells nothing any more. */
    async nameOf(id: string): Promise<string | null> {
      const checkout = await deps.store.find(id)
      return checkout === null || statusOf(checkout, deps.clock.now()) === 'expired' ? null : checkout.product.name
    },

    addressOf: (id: string): string => `${deps.addresses.pay}/${id}`,

    /** What buyers would see of these terms. Nothing is stored. */
    async preview(caller: Caller, wanted: Terms): Promise<CheckoutView> {
      const owner = accountOf(caller)
      const recipient = wanted.recipient ?? (await deps.walletAddress(owner))
      const terms = { ...wanted, recipient, ...(await withFiles(deps.files, owner, wanted)) }
      const now = deps.clock.now()
      const view = showing.checkout(newCheckout(deriveId('chk', newId('op', now)), owner, terms, now))
      return { ...view, brand: await deps.brands.shown(owner) }
    },

    /** Which of these have not ended. Whatever is no checkout has none of its life, and is living. */
    async living(ids: readonly string[], inside: Statements): Promise<ReadonlySet<string>> {
      const ended = await deps.store.ended(
        ids.filter((id) => isId('chk', id)),
        deps.clock.now(),
        inside,
      )
      return new Set(ids.filter((id) => !ended.has(id)))
    },

    /** Called after each attempt at a delivery to this checkout's callback. It is a hint that may be lost. */
    async attempted(target: string, attempt: Attempted): Promise<void> {
      const isHeld = attempt.headers[HELD_HEADER] === HELD[HELD_HEADER]
      // A 410 to a held order says that this order has failed, and not that the workflow is gone.
      if (!isHeld || attempt.status !== FAILED_STATUS) await watching.attempted(target, attempt)
      if (isHeld) await capturing.ended(attempt.subject)
    },
    deliveryFailed: capturing.deliveryFailed,
    deliveryEnded: capturing.ended,
    mayRedeliver: capturing.mayRedeliver,
    redelivered: capturing.redelivered,
    returning: capturing.returning,
    /** The seller reports how the work that a payment bought has ended. */
    async report(caller: Caller, payment: string, report: Report): Promise<PaymentView> {
      const { id, subject } = await capturing.report(caller, payment, report)
      return await showing.sale(await find(subject, id), 'owner')
    },
    tellPaused: watching.tell,
    notices,
    openings: createOpenings(deps),

    /** Ends what ends by time, including what a dead process left behind. */
    sweepers: {
      leases: (now: Date): Promise<void> => deps.store.expireLeases(now),
      probes: watching.probe,
      held: (): Promise<void> => capturing.sweep(),
      notices: notices.sweep,
      requests: expireRequests,
    },
  }
}

/** Long enough to take up another device. */
const DRAFT_MS = 3_600_000

const HELD_HEADER = 'coinslot-capture'

export type Checkouts = ReturnType<typeof createCheckouts>
