import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Clock } from '../kit/clock.ts'
import { languageOf, type Reader } from '../kit/language.ts'
import { contentPolicy } from '../ui-kit/document.ts'
import { builtFolder, loadAssets, type Assets } from './assets.ts'
import { localMoney, type Rates } from './rates.ts'
import type {
  CheckoutPage,
  Embed,
  Frame,
  PageError,
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
  /** The script for sellers' own pages. */
  embed: string
}

export async function loadBuilt(folder = builtFolder('pages')): Promise<Built> {
  const renderer: unknown = await import(pathToFileURL(path.join(folder, 'server/server.mjs')).href)
  return {
    // The build's own type check guarantees this type.
    renderer: renderer as Renderer,
    assets: await loadAssets(path.join(folder, 'browser')),
    embed: await readFile(path.join(folder, 'embed/embed.js'), 'utf8'),
  }
}

/** The customers' pages, each in its reader's language. */
export interface Pages {
  checkout(page: CheckoutPage, reader: Reader, embed?: Embed | null): Page
  /** The same without a script, to be shown inside a page of the dashboard. */
  preview(page: CheckoutPage): string
  /** A payment's own URL, opened in a browser; if its checkout has ended, only the payment is shown. */
  payment(page: CheckoutPage | null, payment: PaymentState, reader: Reader, embed?: Embed | null): Page
  /** A purchase that was not made at a checkout. */
  receipt(receipt: Receipt, signed: SignedReceipt | null, reader: Reader): Page
  /** Verifies signed receipts by the keys at these addresses. `home` is the public origin of the page itself. */
  verify(issuers: VerifyPage['issuers'], home: string, reader: Reader): Page
  /** The wallet of a passkey, which the reader's browser opens. */
  wallet(reader: Reader): Page
  /** A 402 for a person. `assetsPath`: where the gate's address serves the assets. */
  gate(page: CheckoutPage, assetsPath: string, reader: Reader): Page
  /** An error page: the checkout does not exist, or an error occurred. */
  missing(error: PageError, reader: Reader, embed?: Embed | null): Page
}

interface Page {
  type: string
  content: string
  headers: Readonly<Record<string, string>>
}

export function createPages(
  { renderer, assets: { scripts, styles } }: Built,
  { clock, assetsPath, previewPath, onramp = null, passkeys = false, rates = () => null }: Setting,
): Pages {
  const frame = (reader: Reader, at = assetsPath): Frame => ({
    language: languageOf(reader),
    scripts: scripts.map((name) => `${at}/${name}`),
    styles: styles.map((name) => `${at}/${name}`),
    now: clock.now(),
    onramp,
    passkeys,
  })
  const priced = (page: CheckoutPage, reader: Reader): CheckoutPage => ({ ...page, local: localMoney(rates(), reader) })
  // Sent before the document, so that a slow phone fetches both while it still reads the document.
  const early = [
    ...styles.map((name) => `<${assetsPath}/${name}>; rel=preload; as=style`),
    ...scripts.map((name) => `<${assetsPath}/${name}>; rel=modulepreload`),
  ].join(', ')
  const checkoutDocument = (content: string, embed: Embed | null, style: string | null): Page =>
    document(content, { ...headersOf(embed, style), Link: early })
  return {
    checkout: (page, reader, embed = null) => {
      const style = styleOf(page)
      const shown = renderer.renderCheckout(priced(page, reader), null, { ...frame(reader), embed, style })
      return checkoutDocument(shown, embed, style)
    },
    // The dashboard is in English.
    preview: (page) =>
      renderer.renderCheckout(inDashboard(page), null, { ...frame(ENGLISH, previewPath), scripts: [] }),
    payment: (page, payment, reader, embed = null) => {
      if (page === null) return document(renderer.renderPayment(payment, frame(reader)))
      const style = styleOf(page)
      const shown = renderer.renderCheckout(priced(page, reader), payment, { ...frame(reader), embed, style })
      return checkoutDocument(shown, embed, style)
    },
    receipt(receipt, signed, reader) {
      const style = styleOf(receipt)
      return document(renderer.renderReceipt(receipt, signed, { ...frame(reader), style }), headersOf(null, style))
    },
    verify(issuers, home, reader) {
      const places = Object.entries(issuers).map(([did, address]) => ({ did, url: new URL(address) }))
      const others = new Set(places.map(({ url }) => url.origin).filter((origin) => origin !== home))
      // Only the path of the page's own host, since the page may be open under another name of it.
      const near = places.map(({ did, url }) => [did, url.origin === home ? url.pathname : url.href] as const)
      const shown = renderer.renderVerify({ issuers: Object.fromEntries(near) }, frame(reader))
      const { type, content, headers } = document(shown)
      return {
        type,
        content,
        headers: { ...headers, 'Content-Security-Policy': contentPolicy(undefined, [...others]) },
      }
    },
    wallet: (reader) => document(renderer.renderWallet(frame(reader))),
    gate(page, at, reader) {
      const style = styleOf(page)
      return document(
        renderer.renderGate(priced(page, reader), { ...frame(reader, at), style }),
        headersOf(null, style),
      )
    },
    missing: (error, reader, embed = null) =>
      document(renderer.renderError(error, { ...frame(reader), embed }), headersOf(embed, null)),
  }
}

/** A picture of the pay pages' host would be of another host there, where the dashboard's policy refuses it. */
function inDashboard({ checkout, ...page }: CheckoutPage): CheckoutPage {
  const { picture } = checkout
  const brand = page.brand?.logo == null ? (page.brand ?? null) : { ...page.brand, logo: nearby(page.brand.logo) }
  return { ...page, brand, checkout: picture == null ? checkout : { ...checkout, picture: nearby(picture) } }
}

function nearby<Picture extends { url: string }>(picture: Picture): Picture {
  return { ...picture, url: `/trpc/files/${picture.url.slice(picture.url.lastIndexOf('/') + 1)}` }
}

interface Setting {
  clock: Clock
  /** Where `serveAssets` is mounted, without the origin, so that page and assets use the same host under any name. */
  assetsPath: string
  /** The same on the host of the dashboard. */
  previewPath: string
  /** The template of a place that sells USDC, if the operator has named one. */
  onramp?: string | null
  /** Whether people may pay with a passkey. */
  passkeys?: boolean
  /** What a dollar is worth in other currencies, if the operator has named a source. */
  rates?: () => Rates | null
}

const ENGLISH: Reader = { lang: 'en', accepted: undefined }

function document(content: string, headers: Page['headers'] = HEADERS): Page {
  return { type: 'text/html; charset=utf-8', content, headers }
}

/** In a frame: for that site alone. In a tab beside it: with a way to tell the frame, which a browser would cut otherwise. */
function headersOf(embed: Embed | null, style: string | null): Page['headers'] {
  if (embed === null && style === null) return HEADERS
  const hash = style === null ? undefined : `sha256-${createHash('sha256').update(style).digest('base64')}`
  const framedBy = embed === null || embed.tab ? undefined : embed.origin
  const headers = { ...HEADERS, 'Content-Security-Policy': contentPolicy(undefined, [], framedBy, hash) }
  return embed?.tab === true ? { ...headers, 'Cross-Origin-Opener-Policy': 'unsafe-none' } : headers
}

/** The seller's colours in place of the page's own. Every value comes from the service's rules, and none from the seller. */
function styleOf({ brand }: Pick<CheckoutPage, 'brand'>): string | null {
  if (brand == null || (brand.colors === null && brand.theme === 'auto')) return null
  const theme = brand.theme === 'auto' ? 'light dark' : brand.theme
  if (brand.colors === null) return `:root{color-scheme:${theme}}`
  const { light, dark } = brand.colors
  const both = (name: keyof typeof light): string => `light-dark(${light[name]},${dark[name]})`
  return `:root{color-scheme:${theme};--accent:${both('accent')};--glow:${both('accent')};--fill:${both('fill')};--on-fill:${both('onFill')};--fill-deep:${both('fillDeep')};--fill-line:${both('accent')}}`
}

const HEADERS = {
  'Content-Security-Policy': contentPolicy(),
  // The page contains a quote, which expires after ten minutes.
  'Cache-Control': 'no-store',
  // The same address answers programs with JSON, and each reader in their own language.
  Vary: 'Accept, Accept-Language',
}
