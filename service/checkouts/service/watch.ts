import { isId, newId } from '../../kit/ids.ts'
import { isGone, isThere, MISSING_MAX, nextProbe, pauseOf } from '../rules/lifecycle.ts'
import type { Checkout } from '../model.ts'
import type { CheckoutDeps } from './deps.ts'

export interface Watching {
  /** Handles a callback's answer to an attempt; `status` is null without an answer. */
  attempted(target: string, answer: { status: number | null }): Promise<void>
  /** Sends the mail about a pause, unless the pause has ended meanwhile. */
  tell(id: string, mail: string): Promise<void>
  /** Checks whether the workflows of paused checkouts respond again. */
  probe(now: Date): Promise<void>
}

/**
 * Watches whether the workflow behind a checkout responds: a checkout whose workflow is known to be gone sells nothing.
 */
export function createWatching(deps: CheckoutDeps): Watching {
  const { store, deliveries, callbacks, announce, mailOwner, clock, log } = deps
  /** When it was last stored that a callback answers. A thousand answers a second must not cost a statement each. */
  const answered = new Map<string, number>()

  async function missing(id: string): Promise<void> {
    answered.delete(id)
    const now = clock.now()
    await store.inTransaction(async (inside) => {
      const paused = await store.countMissing(inside, id, { most: MISSING_MAX, now, probeAt: nextProbe(now, now) })
      if (paused === null) return
      log.warn({ checkout: id }, 'a checkout was paused: its workflow was not found')
      const data = pauseOf(paused, now)
      await deliveries.event(inside, { id: newId('evt', now), owner: paused.owner, event: 'checkout.paused', data })
      await announce(inside, [{ topic: PAUSED, payload: { checkoutId: id } }])
    })
  }

  async function there(id: string, started: boolean): Promise<void> {
    const now = clock.now().getTime()
    if (now - (answered.get(id) ?? 0) < AGAIN_MS) return
    if (answered.size >= REMEMBERED) answered.clear()
    answered.set(id, now)
    await store.forgetMissing([id])
    if (started) await store.resume([id], clock.now())
  }

  async function ask(id: string, url: string | null, pausedAt: Date): Promise<void> {
    const answer = url === null ? null : await callbacks.ask(url, id)
    const now = clock.now()
    if (answer !== null && isThere(answer.status)) await store.resume([id], now)
    else await store.probeAgain(id, nextProbe(pausedAt, now))
  }

  return {
    async attempted(target, { status }) {
      if (!isId('chk', target) || status === null) return
      if (isGone(status)) await missing(target)
      else await there(target, status < 300)
    },

    async tell(id, mail) {
      const checkout = await store.find(id)
      if (checkout?.state === 'paused') await mailOwner(checkout.owner.userId, { id: mail, ...pausedMail(checkout) })
    },

    async probe(now) {
      const taken = await store.takeProbes(now, new Date(now.getTime() + TAKEN_MS), AT_ONCE)
      await Promise.all(taken.map(({ id, callbackUrl, pausedAt }) => ask(id, callbackUrl, pausedAt ?? now)))
    },
  }
}

/** The topic of the mail. */
export const PAUSED = 'checkouts.paused'

const AGAIN_MS = 5_000
const REMEMBERED = 10_000
const TAKEN_MS = 60_000
const AT_ONCE = 20

function pausedMail({ id, product, callbackUrl }: Checkout): { subject: string; text: string } {
  return {
    subject: `The checkout "${product.name.replace(/\s+/g, ' ')}" is paused`,
    text: `The workflow behind the checkout ${id} was not found: ${callbackUrl ?? 'its address'} keeps answering 404 or 410.

Customers see that it is not available, and nothing is charged. Activate the workflow, and the checkout resumes
automatically. If it is active in n8n, open that address in a browser: the page says what is wrong. If you no longer
need the checkout, expire it.
`,
  }
}
