/*
 * The script with which a seller's own page shows a checkout: a button that opens it, or the page itself in a frame. It
 * works under strict policies of that page, so it has no inline style, evaluates nothing and adds no global name.
 */

/** The service puts the path of its payment pages here. */
const PAY_PATH = '%PAY_PATH%'

interface Setting {
  /** The checkout's page. */
  page: URL
  mode: string | undefined
  label: string | undefined
  /** A selector of the element to put it into; in place of the script's own place. */
  target: string | undefined
}

function start(script: HTMLOrSVGScriptElement | null): void {
  if (!(script instanceof HTMLScriptElement)) return
  const { checkout = '', mode, label, target } = script.dataset
  const page = new URL(`${PAY_PATH}/${encodeURIComponent(checkout)}`, script.src)
  const host = document.createElement('div')
  const put = (): void => {
    const place = target === undefined ? null : document.querySelector(target)
    if (place !== null) place.append(host)
    else script.after(host)
    show(host, { page, mode, label, target })
  }
  // An async script may come before the element that it names.
  if (target !== undefined && document.readyState === 'loading') document.addEventListener('DOMContentLoaded', put)
  else put()
}

function show(host: HTMLElement, { page, mode, label = 'Pay with USDC' }: Setting): void {
  const root = host.attachShadow({ mode: 'open' })
  const style = new CSSStyleSheet()
  style.replaceSync(STYLE)
  root.adoptedStyleSheets = [style]
  if (mode === 'frame') {
    const { frame, link } = framed(page, host, () => undefined)
    root.append(frame, link)
    return
  }
  const dialog = make('dialog', { 'aria-label': label })
  const button = make('button', { type: 'button', class: 'buy', 'aria-haspopup': 'dialog' }, label)
  const close = make('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, '×')
  // Kept when it is closed: a payment goes on meanwhile, and is there when it is opened again.
  let isFilled = false
  button.addEventListener('click', () => {
    if (!isFilled) {
      const { frame, link } = framed(page, host, () => dialog.close())
      dialog.append(close, frame, link)
      isFilled = true
    }
    // A modal dialog keeps the focus inside, closes on Escape, and gives the focus back.
    dialog.showModal()
  })
  close.addEventListener('click', () => dialog.close())
  root.append(button, dialog)
}

/** The page in a frame. Only what the page itself sends is heard, and none of it goes anywhere but to this element. */
function framed(page: URL, host: HTMLElement, close: () => void) {
  const at = new URL(page)
  at.searchParams.set('embed', location.origin)
  const frame = make('iframe', { src: at.href, title: 'Payment', allow: 'clipboard-write' })
  // Shown until the page is: where this site is not allowed to frame it, a browser shows only an error.
  const link = make('a', { href: page.href, target: '_blank', rel: 'noopener' }, 'Open the payment page')
  addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
    if (origin !== page.origin || source !== frame.contentWindow || typeof data !== 'object' || data === null) return
    const { type, height, paymentId, checkoutId } = data as Record<string, unknown>
    if (type === 'coinslot:close') close()
    if (type === 'coinslot:resize') {
      link.hidden = true
      frame.style.height = `${String(Math.min(Math.max(Number(height) || 0, HEIGHT_MIN), HEIGHT_MAX))}px`
    }
    if (type === 'coinslot:paid') {
      host.dispatchEvent(new CustomEvent('coinslot:paid', { bubbles: true, detail: { paymentId, checkoutId } }))
    }
  })
  return { frame, link }
}

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  text = '',
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}

const HEIGHT_MIN = 320
const HEIGHT_MAX = 4_000

const STYLE = `
:host{display:block}
[hidden]{display:none!important}
.buy{font:600 1rem/1.25 system-ui,sans-serif;padding:.7em 1.2em;border:0;border-radius:.5em;background:#2b50e2;color:#fff;cursor:pointer}
.buy:hover{background:#1f3fbd}
button:focus-visible,a:focus-visible{outline:3px solid #7c95f5;outline-offset:2px}
dialog{box-sizing:border-box;width:min(64rem,100vw);max-width:100vw;max-height:100dvh;margin:auto;padding:2.75rem 0 0;border:0;border-radius:.75rem;background:#fff;color:#16181d;overflow:auto}
dialog::backdrop{background:rgb(10 12 20/.6)}
.close{position:absolute;top:0;right:0;width:2.75rem;height:2.75rem;border:0;background:none;color:inherit;font:1.5rem/1 system-ui,sans-serif;cursor:pointer}
.close:focus-visible{outline-offset:-4px}
iframe{display:block;width:100%;height:32rem;border:0;color-scheme:auto}
a{display:block;padding:.75rem;text-align:center;font:.875rem/1.5 system-ui,sans-serif;color:#2b50e2}
@media (prefers-color-scheme:dark){dialog{background:#14161c;color:#eceef4}a{color:#9db0ff}}
@media (max-width:40rem){dialog{width:100vw;height:100dvh;border-radius:0}}
`

start(document.currentScript)
