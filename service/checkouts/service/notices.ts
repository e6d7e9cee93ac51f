import { toDecimal } from '../../kit/money.ts'
import type { DeliveryState } from '../../deliveries/model.ts'
import { toMail, type Notice } from '../../deliveries/service/notices.ts'
import { turnOf, type Announcement, type Turn } from '../../queue/model.ts'
import { isGoingBack, isReal, type Sale } from '../../sales/model.ts'
import type { Checkout, NoticeKind } from '../model.ts'
import type { NoticeDigest } from '../stores.ts'
import type { CheckoutDeps } from './deps.ts'

/** Mails to owners about their sales: the first of an hour each by itself, the others in one mail. */
export function createNotices({ store, selling, deliveries, announce, mailOwner, clock, dashboard }: NoticeDeps) {
  /**
   * A sale that failed was charged nothing; else its delivery did not arrive. Null where neither is so any more: it was
   * redelivered before the mail was sent.
   */
  async function failedMail(sale: Sale, checkout: Checkout, link: string) {
    if (sale.state === 'failed') return givenUpMail(sale, checkout, link)
    const delivery = (await deliveries.bySubject(null, [sale.id])).get(sale.id)
    const event = delivery === undefined ? undefined : FAILURES.get(delivery.state)
    if (delivery === undefined || event === undefined) return null
    const isOver = sale.state === 'refunded' || isGoingBack(sale)
    const { subject, text } = toMail(
      { event, id: delivery.id, about: sale.id },
      { status: delivery.lastStatus, isOver },
    )
    return {
      subject: `${testOf(sale) === null ? '' : 'Test: '}${subject}: ${inLine(checkout.product.name)}`,
      text: `${text}\nYour checkout: ${link}\n${WHY}\n`,
    }
  }

  return {
    /** Handles an announced notice. Its owner may have switched it off meanwhile. */
    async tell({ saleId, kind }: { saleId: string; kind: NoticeKind }, announcement: string): Promise<void> {
      const sale = await selling.journal.findById(saleId)
      // The end of a held sale is announced by itself.
      if (sale?.product !== 'checkout' || (kind === 'failure' && sale.state === 'held')) return
      const checkout = await store.find(sale.subject)
      if (checkout?.notify[kind] !== true) return
      const link = `${dashboard}/checkouts/${checkout.id}`
      const mail = kind === 'sale' ? soldMail(sale, checkout, link) : await failedMail(sale, checkout, link)
      if (mail === null) return
      const at = clock.now()
      const bounds = { since: new Date(at.getTime() - HOUR_MS), alone: ALONE_PER_HOUR }
      const isAlone = await store.addNotice({ saleId, kind, owner: checkout.owner, at, announcement }, bounds)
      if (isAlone) await mailOwner(checkout.owner.userId, { id: announcement, ...mail })
    },

    async tellMany({ userId, environment, kind, count }: NoticeDigest, id: string): Promise<void> {
      await mailOwner(userId, { id, ...manyMail({ environment, kind, count }, dashboard) })
    },

    /** The mail for all that wait is announced with their end, so that there is one. */
    async sweep(now: Date): Promise<void> {
      await store.inTransaction(async (inside) => {
        const taken = await store.takeNotices(inside, new Date(now.getTime() - HOUR_MS), AT_ONCE)
        if (taken.length === 0) return
        await announce(
          inside,
          taken.map((digest) => ({ topic: DIGEST, payload: { ...digest }, turn: turnOf(digest) })),
        )
      })
    },
  }
}

type NoticeDeps = Pick<
  CheckoutDeps,
  'store' | 'selling' | 'deliveries' | 'announce' | 'mailOwner' | 'clock' | 'dashboard'
>

/** Written in the transaction of what it tells. Whether the owner wants it is decided when it is mailed. */
export function noticeOf(sold: Sold, kind: NoticeKind): Announcement {
  return { topic: NOTICE, payload: { saleId: sold.id, kind }, turn: turnOfSeller(sold) }
}

/** A sale and its seller. */
export type Sold = Pick<Sale, 'id' | 'userId' | 'environment'>

export function turnOfSeller({ userId, environment }: Sold): Turn {
  return turnOf({ userId: userId ?? '', environment })
}

/** The topics of the mails. */
export const NOTICE = 'checkouts.notice'
export const DIGEST = 'checkouts.notices'

const FAILURES = new Map<DeliveryState, Notice['event']>([
  ['unconfirmed', 'delivery.unconfirmed'],
  ['stopped', 'delivery.stopped'],
  ['exhausted', 'delivery.exhausted'],
])

const HOUR_MS = 3_600_000
/** Of one kind and account. */
const ALONE_PER_HOUR = 5
const AT_ONCE = 500

function soldMail(sale: Sale, { product }: Checkout, link: string): { subject: string; text: string } {
  const name = inLine(product.name)
  const test = testOf(sale)
  return {
    subject: `${test === null ? '' : 'Test: '}${name} was sold for ${toDecimal(sale.amount)} USDC`,
    text: [
      `${name} was sold for ${toDecimal(sale.amount)} USDC. Payment: ${sale.id}`,
      ...(test === null ? [] : [test]),
      '',
      `Your checkout: ${link}`,
      WHY,
    ].join('\n'),
  }
}

/** Why a sale is no real one. Null for one that is. */
function testOf(sale: Sale): string | null {
  if (sale.simulated) return 'The payment was simulated: no money has moved.'
  return isReal(sale) ? null : `The payment was made with test money, on ${sale.network}.`
}

function givenUpMail(sale: Sale, { product }: Checkout, link: string): { subject: string; text: string } {
  const name = inLine(product.name)
  return {
    subject: `${testOf(sale) === null ? '' : 'Test: '}A workflow failed: ${name}`,
    text: [
      `The workflow of ${name} did not complete payment ${sale.id}. Nothing was charged.`,
      '',
      `Your checkout: ${link}`,
      WHY,
    ].join('\n'),
  }
}

function manyMail({ environment, kind, count }: Omit<NoticeDigest, 'userId'>, dashboard: string) {
  const what = kind === 'sale' ? 'more sales' : 'more failed deliveries'
  return {
    subject: `${String(count)} ${what}`,
    text: [
      `In about the last hour there were ${String(count)} ${what} in your ${environment} account.`,
      '',
      `All of them: ${dashboard}/checkouts`,
      WHY,
    ].join('\n'),
  }
}

function inLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

const WHY = 'You choose at each checkout about what you are mailed.'
