import type { PageError, PaymentState, Receipt, RefundState, SignedReceipt } from '../../model.ts'
import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import { Legal, Seller } from '../checkout/Brand.tsx'
import { CoinMark } from '../checkout/Icons.tsx'
import { Refunds } from '../checkout/Receipt.tsx'
import { isReclaimable } from '../checkout/state.ts'
import { language, say, sayCode, usdc, type PlainKey } from '../words/say.ts'

/** The text of a page without a script. */
export interface Message {
  title: string
  sentence: string
  /** Below the text, smaller. */
  note: string | null
  links?: readonly Link[]
  refunds?: readonly RefundState[]
  brand?: Receipt['brand']
}

interface Link {
  text: string
  href: string
  /** Saves the content under this name instead of opening it. */
  fileName: string | null
}

export function MessagePage({
  message: { title, sentence, note, links = [], refunds = [], brand = null },
}: {
  message: Message
}) {
  return (
    <main class="message">
      {brand === null ? <CoinMark /> : <Seller {...brand} />}
      <h1>{title}</h1>
      <p class="quiet">{sentence}</p>
      <Refunds refunds={refunds} />
      {note !== null && <p class="fine">{note}</p>}
      {links.map(({ text, href, fileName }) => (
        <p key={text}>
          <a href={href} download={fileName ?? undefined}>
            {text}
          </a>
        </p>
      ))}
      {brand !== null && <Legal {...brand} />}
    </main>
  )
}

export function messageOfError({ status, code, sentence }: PageError): Message {
  if (code === 'checkout_not_found') {
    return { note: say('common.noCharge'), title: say('message.noLink'), sentence: say('message.askSender') }
  }
  if (status === 404) return { note: null, title: say('message.notFound'), sentence: sayOr(MISSING[code], sentence) }
  if (status === 429) return { note: null, title: say('message.wait'), sentence: say('error.limited') }
  return { note: null, title: say('message.wrong'), sentence }
}

const MISSING: Readonly<Record<string, PlainKey>> = {
  receipt_not_found: 'message.noReceipt',
  payment_not_found: 'message.noPayment',
}

export function messageOfPayment({ payment }: PaymentState): Message {
  const note = say('message.number', { id: payment.id })
  switch (payment.status) {
    case 'paid':
      return {
        note,
        title: say(payment.free === null ? 'progress.complete' : 'progress.orderDone'),
        sentence: say('message.linkExpired'),
      }
    case 'failed':
      return {
        note,
        title: say('progress.failed'),
        sentence: say(isReclaimable(payment) ? 'progress.reclaimable' : 'common.noCharge'),
      }
    case 'created':
    case 'settling':
      return { note, title: say('message.confirming'), sentence: say('message.loadAgain') }
  }
}

export function messageOfReceipt(receipt: Receipt, signed: SignedReceipt | null): Message {
  const { id, name, status, txHash, refunds, dispute } = receipt
  const paid = status === 'paid' || status === 'refunded'
  const report = dispute === null ? [] : toReport(dispute)
  const number = say('message.number', { id })
  return {
    title: paid ? say('message.receiptFor', { product: name }) : name,
    sentence: (paid ? [toPrice(receipt), ...report] : [toPrice(receipt)]).join(' '),
    note: txHash === null ? number : `${number} · ${say('message.transaction', { hash: txHash })}`,
    refunds: paid ? refunds : [],
    brand: receipt.brand,
    links: signed === null ? [] : linksOf(signed),
  }
}

function toPrice({ status, amount, network, paidAt }: Receipt): string {
  const what = { price: usdc(amount), network: NAMES[network] ?? network }
  if (status === 'failed') return say('message.failed', what)
  if (status !== 'paid' && status !== 'refunded') return say('message.notPaid', what)
  if (amount === 0) return say('message.free')
  return paidAt === null ? say('message.paid', what) : say('message.paidOn', { ...what, date: inUtc(paidAt) })
}

const NAMES: Readonly<Record<string, string>> = NETWORK_NAMES

/** The page has no script that could know the reader's time zone. */
function inUtc(at: string): string {
  return `${new Date(at).toLocaleString(language(), { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} UTC`
}

function toReport({ state, answer }: NonNullable<Receipt['dispute']>): readonly string[] {
  const known = state === 'open' ? say('message.reportOpen') : (sayCode('report', state) ?? say('report.closed'))
  return answer === null ? [known] : [known, say('report.sellerWrites', { answer })]
}

function linksOf({ jws, verifyUrl }: SignedReceipt): readonly Link[] {
  return [
    { text: say('message.verify'), href: verifyUrl, fileName: null },
    { text: say('message.download'), href: `data:text/plain,${jws.signature}`, fileName: 'receipt.jws' },
  ]
}

function sayOr(key: PlainKey | undefined, sentence: string): string {
  return key === undefined ? sentence : say(key)
}
