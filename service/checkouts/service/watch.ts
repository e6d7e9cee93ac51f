import type { Attempted } from '../../deliveries/model.ts'
import { isId, newId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import {
  FAILING_APART_MS,
  FAILING_MS,
  isGone,
  isThere,
  MISSING_MAX,
  nextProbe,
  pauseOf,
  SIMULATED,
} from '../rules/lifecycle.ts'
import type { Checkout } from '../model.ts'
import type { CheckoutDeps } from './deps.ts'
import { turnOf } from '../../queue/model.ts'

export interface Watching {
  /** Handles a callback's answer to an attempt; `status` is null without an answer. */
  attempted(target: string, answer: Pick<Attempted, 'status' | 'headers'>): Promise<void>
  /** Handles the answer to a check before a payment. */
  checked(id: string, answer: { status: number | null; isSensible: boolean }): Promise<void>
  /** Sends the mail about a pause, unless the pause has ended meanwhile. */
  tell(id: string, mail: { id: string; isFailing: boolean }): Promise<void>
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
  /** The same of its answers to checks. */
  const served = new Map<string, number>()

  async function missing(id: string, simulated: boolean): Promise<void> {
    answered.delete(id)
    const now = clock.now()
    await pause(id, now, false, (inside) =>
      store.countMissing(inside, id, { most: MISSING_MAX, now, probeAt: nextProbe(now, now), simulated }),
    )
  }

  async function failing(id: string): Promise<void> {
    served.delete(id)
    const now = clock.now()
    const [since, from] = [FAILING_MS, FAILING_APART_MS].map((ms) => new Date(now.getTime() - ms)) as [Date, Date]
    await pause(id, now, true, (inside) =>
      store.countFailing(inside, id, { since, from, now, probeAt: nextProbe(now, now) }),
    )
  }

  /** Tells the owner by event and mail where `count` has paused the checkout. */
  async function pause(
    id: string,
    now: Date,
    isFailing: boolean,
    count: (inside: Statements) => Promise<Checkout | null>,
  ): Promise<void> {
    await store.inTransaction(async (inside) => {
      const paused = await count(inside)
      if (paused === null) return
      log.warn(
        { checkout: id },
        `a checkout was paused: its workflow ${isFailing ? 'answers with errors' : 'was not found'}`,
      )
      const data = pauseOf(paused, now)
      await deliveries.event(inside, { id: newId('evt', now), owner: paused.owner, event: 'checkout.paused', data })
      await announce(inside, [{ topic: PAUSED, payload: { checkoutId: id, isFailing }, turn: turnOf(paused.owner) }])
    })
  }

  async function there(id: string, started: boolean): Promise<void> {
    if (!isFirst(answered, id)) return
    await store.forgetMissing([id])
    if (started) await store.resume([id], clock.now())
  }

  /** Whether the last one was some seconds ago. */
  function isFirst(times: Map<string, number>, id: string): boolean {
    const now = clock.now().getTime()
    if (now - (times.get(id) ?? 0) < AGAIN_MS) return false
    if (times.size >= REMEMBERED) times.clear()
    times.set(id, now)
    return true
  }

  async function attempted(target: string, status: number | null, simulated: boolean): Promise<void> {
    if (!isId('chk', target) || status === null) return
    if (isGone(status)) await missing(target, simulated)
    else await there(target, status < 300)
  }

  async function ask(id: string, url: string | null, pausedAt: Date): Promise<void> {
    const answer = url === null ? null : await callbacks.ask(url, id)
    const now = clock.now()
    if (answer !== null && isThere(answer.status)) await store.resume([id], now)
    else await store.probeAgain(id, nextProbe(pausedAt, now))
  }

  return {
    attempted: (target, { status, headers }) => attempted(target, status, headers[TEST] === SIMULATED[TEST]),

    async checked(id, { status, isSensible }) {
      if (status === null) return
      if (status >= 500) {
        await failing(id)
        return
      }
      if (!isGone(status) && isFirst(served, id)) await store.forgetFailing(id)
      if (!isSensible) await attempted(id, status, false)
    },

    async tell(id, { id: mail, isFailing }) {
      const checkout = await store.find(id)
      if (checkout?.state !== 'paused') return
      await mailOwner(checkout.owner.userId, { id: mail, ...pausedMail(checkout, isFailing) })
    },

    async probe(now) {
      const taken = await store.takeProbes(now, new Date(now.getTime() + TAKEN_MS), AT_ONCE)
      await Promise.all(taken.map(({ id, callbackUrl, pausedAt }) => ask(id, callbackUrl, pausedAt ?? now)))
    },
  }
}

/** The topic of the mail. */
export const PAUSED = 'checkouts.paused'

const TEST = 'coinslot-test'
const AGAIN_MS = 5_000
const REMEMBERED = 10_000
const TAKEN_MS = 60_000
const AT_ONCE = 20

function pausedMail({ id, product, callbackUrl }: Checkout, isFailing: boolean): { subject: string; text: string } {
  const subject = `The checkout "${product.name.replace(/\s+/g, ' ')}" is paused`
  const address = callbackUrl ?? 'its address'
  if (isFailing) {
    return {
      subject,
      text: `The workflow behind the checkout ${id} answers with errors: before each payment ${address} is asked whether it is there,
and for more than two minutes it has answered with a server error (5xx).

Customers see that it is not available, and nothing is charged. Start the server, or mend what fails there, and the
checkout resumes automatically. If you no longer need the checkout, expire it.
`,
    }
  }
  return {
    subject,
    text: `The workflow behind the checkout ${id} was not found: ${address} keeps answering 404 or 410.

Customers see that it is not available, and nothing is charged. Activate the workflow, and the checkout resumes
automatically. If it is active in n8n, open that address in a browser: the page says what is wrong. If you no longer
need the checkout, expire it.
`,
  }
}
