import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Clock } from '../kit/clock.ts'
import { contentPolicy } from '../ui-kit/document.ts'
import { builtFolder, loadAssets, type Assets } from './assets.ts'
import type {
  CheckoutPage,
  Frame,
  Message,
  PaymentState,
  Receipt,
  Renderer,
  SignedReceipt,
  VerifyPage,
} from './model.ts'

/** The build of service/pages/browser, read once: a later build does not change a running process. */
export interface Built {
  renderer: Renderer
  assets: Assets
}

export async function loadBuilt(folder = builtFolder('pages')): Promise<Built> {
  const renderer: unknown = await import(pathToFileURL(path.join(folder, 'server/server.mjs')).href)
  return {
    // The build's own type check guarantees this type.
    renderer: renderer as Renderer,
    assets: await loadAssets(path.join(folder, 'browser')),
  }
}

/** The customers' pages. */
export interface Pages {
  checkout(page: CheckoutPage): Page
  /** The same without a script, to be shown inside a page of the dashboard. */
  preview(page: CheckoutPage): string
  /** A payment's own URL, opened in a browser; if its checkout has ended, only the payment is shown. */
  payment(page: CheckoutPage | null, payment: PaymentState): Page
  /** A purchase that was not made at a checkout. */
  receipt(receipt: Receipt, signed: SignedReceipt | null): Page
  /** Verifies signed receipts by the keys at these addresses. `home` is the public origin of the page itself. */
  verify(issuers: VerifyPage['issuers'], home: string): Page
  /** A 402 for a person. `assetsPath`: where the gate's address serves the assets. */
  gate(page: CheckoutPage, assetsPath: string): Page
  /** An error page: the checkout does not exist, or an error occurred. */
  missing(error: { status: number; code: string; sentence: string }): Page
}

interface Page {
  type: string
  content: string
  headers: Readonly<Record<string, string>>
}

export function createPages(
  { renderer, assets: { scripts, styles } }: Built,
  { clock, assetsPath, previewPath }: Setting,
): Pages {
  const frame = (at = assetsPath): Frame => ({
    scripts: scripts.map((name) => `${at}/${name}`),
    styles: styles.map((name) => `${at}/${name}`),
    now: clock.now(),
  })
  return {
    checkout: (page) => document(renderer.renderCheckout(page, null, frame())),
    preview: (page) => renderer.renderCheckout(page, null, { ...frame(previewPath), scripts: [] }),
    payment: (page, payment) =>
      document(
        page === null
          ? renderer.renderMessage(messageOfPayment(payment), frame())
          : renderer.renderCheckout(page, payment, frame()),
      ),
    receipt: (receipt, signed) => document(renderer.renderMessage(messageOfReceipt(receipt, signed), frame())),
    verify(issuers, home) {
      const places = Object.entries(issuers).map(([did, address]) => ({ did, url: new URL(address) }))
      const others = new Set(places.map(({ url }) => url.origin).filter((origin) => origin !== home))
      // Only the path of the page's own host, since the page may be open under another name of it.
      const near = places.map(({ did, url }) => [did, url.origin === home ? url.pathname : url.href] as const)
      const { type, content, headers } = document(renderer.renderVerify({ issuers: Object.fromEntries(near) }, frame()))
      return {
        type,
        content,
        headers: { ...headers, 'Content-Security-Policy': contentPolicy(undefined, [...others]) },
      }
    },
    gate: (page, at) => document(renderer.renderGate(page, frame(at))),
    missing: (error) => document(renderer.renderMessage(messageOfError(error), frame())),
  }
}

interface Setting {
  clock: Clock
  /** Where `serveAssets` is mounted, without the origin, so that page and assets use the same host under any name. */
  assetsPath: string
  /** The same on the host of the dashboard. */
  previewPath: string
}

function document(content: string): Page {
  return { type: 'text/html; charset=utf-8', content, headers: HEADERS }
}

const HEADERS = {
  'Content-Security-Policy': contentPolicy(),
  // The page contains a quote, which expires after ten minutes.
  'Cache-Control': 'no-store',
}

function messageOfError({ status, code, sentence }: { status: number; code: string; sentence: string }): Message {
  if (code === 'checkout_not_found') {
    return {
      note: 'Nothing was charged.',
      title: 'This payment link does not exist or has expired',
      sentence: 'Ask the sender for a new link.',
    }
  }
  if (status === 404) return { note: null, title: 'Page not found', sentence }
  if (status === 429)
    return {
      note: null,
      title: 'One moment, please',
      sentence: 'Too many requests came from your network. Try again in a minute.',
    }
  return { note: null, title: 'Something went wrong', sentence }
}

function messageOfReceipt(
  { id, name, status, amount, network, txHash, paidAt, refunds, dispute }: Receipt,
  signed: SignedReceipt | null,
): Message {
  const paid = status === 'paid' || status === 'refunded'
  const back = refunds.map(toSentence).join('') + (dispute === null ? '' : toDisputeSentence(dispute))
  const price = `${String(amount)} USDC on ${network}`
  return {
    title: paid ? `Receipt for ${name}` : name,
    sentence: paid
      ? `${price} was paid${paidAt === null ? '' : ` on ${paidAt}`}.${back}`
      : `The payment of ${price} is ${status}.`,
    note: `Payment number ${id}${txHash === null ? '' : `, transaction ${txHash}`}`,
    links: signed === null ? [] : linksOf(signed),
  }
}

function toSentence({ amount, state, txHash }: Receipt['refunds'][number]): string {
  const by = txHash === null ? '' : `, transaction ${txHash}`
  return state === 'confirmed'
    ? ` ${String(amount)} USDC was refunded${by}.`
    : ` A refund of ${String(amount)} USDC is on its way.`
}

function toDisputeSentence({ state, answer }: NonNullable<Receipt['dispute']>): string {
  return ` You reported a problem: ${STATES[state] ?? state}.${answer === null ? '' : ` The seller writes: “${answer}”`}`
}

const STATES: Readonly<Record<string, string>> = {
  open: 'the seller has not answered yet',
  refunding: 'a refund is on its way',
  refunded: 'you were refunded',
  declined: 'the seller declined a refund',
  closed: 'it was closed without an answer',
}

function linksOf({ jws, verifyUrl }: SignedReceipt): NonNullable<Message['links']> {
  return [
    { text: 'Verify signed receipt', href: verifyUrl, fileName: null },
    { text: 'Download signed receipt', href: `data:text/plain,${jws.signature}`, fileName: 'receipt.jws' },
  ]
}

function messageOfPayment({ payment }: PaymentState): Message {
  const number = `Payment number ${payment.id}`
  switch (payment.status) {
    case 'paid':
      return { note: number, title: 'Payment complete', sentence: 'The payment link has expired since then.' }
    case 'failed':
      return { note: number, title: 'The payment did not go through', sentence: 'Nothing was charged.' }
    case 'created':
    case 'settling':
      return { note: number, title: 'Confirming the payment', sentence: 'Load this page again in a moment.' }
  }
}
