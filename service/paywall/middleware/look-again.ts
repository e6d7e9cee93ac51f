import type { SellingDeps } from '../../sales/service/deps.ts'
import { BUYER_AWAY, createSettling, nextResume } from '../../sales/service/settle.ts'
import type { PaymentJournal } from '../service/deps.ts'
import { REMEMBERED_MS_MAX, withOwn } from './authorizations.ts'

/**
 * Looks again at settlements without an outcome, since their buyers may not return: as long as this process lives, for at most a
 * day. A look leases the sale, as a request of its buyer does, and ends it in the same way.
 */
export function lookingAgain(books: PaymentJournal, deps: LookDeps) {
  const { clock, log, settleMs } = deps
  /** By sale: when it became `settling` here, and when it is looked at next. */
  const open = new Map<string, { since: Date; dueAt: Date }>()
  let timer: NodeJS.Timeout | null = null

  const journal = withOwn(books, {
    async settling(lease, delivered, until) {
      const isTaken = await books.settling(lease, delivered, until)
      if (isTaken) {
        const since = clock.now()
        open.set(lease.id, { since, dueAt: nextResume(since, since) })
        arm()
      }
      return isTaken
    },
    async paid(id, txHash, paid) {
      const sale = await books.paid(id, txHash, paid)
      open.delete(id)
      return sale
    },
    async failed(id, reason, end) {
      const sale = await books.failed(id, reason, end)
      open.delete(id)
      return sale
    },
  })
  const settle = createSettling({ ...deps, journal })

  async function look(id: string): Promise<void> {
    const known = await books.findById(id)
    if (known?.state !== 'settling') {
      open.delete(id)
      return
    }
    const until = new Date(clock.now().getTime() + settleMs + SPARE_MS)
    const taken = await books.take({ id, details: known.details, promised: false, balance: null }, until, null)
    // Its buyer's request works on it.
    if (taken === null) return
    try {
      if (taken.state === 'settling') await settle(taken, BUYER_AWAY, { waitMs: 0 })
    } finally {
      await books.leave({ id, leaseUntil: taken.leaseUntil })
    }
  }

  /** A turn: what is due, the longest waiting first. */
  async function run(): Promise<void> {
    const now = clock.now()
    const due = [...open].filter(([, { dueAt }]) => dueAt <= now)
    due.sort(([, one], [, other]) => one.dueAt.getTime() - other.dueAt.getTime())
    const looks = due.slice(0, AT_ONCE).map(async ([id, { since }]) => {
      if (now.getTime() > since.getTime() + REMEMBERED_MS_MAX) return void open.delete(id)
      open.set(id, { since, dueAt: nextResume(since, now) })
      await look(id).catch((error: unknown) => {
        log.error({ sale: id, err: error }, 'a sale could not be resumed')
      })
    })
    await Promise.all(looks)
  }

  /** It runs only while a settlement is open, and keeps no process alive. */
  function arm(): void {
    if (timer !== null || open.size === 0) return
    timer = setTimeout(() => {
      void run().finally(() => {
        timer = null
        arm()
      })
    }, EVERY_MS)
    timer.unref()
  }

  return { journal, run }
}

type LookDeps = Pick<SellingDeps, 'methods' | 'clock' | 'log' | 'measures' | 'failpoints' | 'settleMs'>

const EVERY_MS = 2_000
const AT_ONCE = 20
/** The lease outlasts what the facilitator and the chain may take. */
const SPARE_MS = 30_000
