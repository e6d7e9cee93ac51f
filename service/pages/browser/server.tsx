import renderToString from 'preact-render-to-string'
import type { Renderer } from '../model.ts'
import { Checkout } from './checkout/Checkout.tsx'
import { CoinMark } from './checkout/Icons.tsx'
import { firstState } from './checkout/state.ts'
import { openWatched } from '../../ui-kit/watched.ts'
import { Gate } from './gate/Gate.tsx'
import { firstGateState } from './gate/flow.ts'
import { Shell } from './Shell.tsx'
import { Verify } from './verify/Verify.tsx'

export const renderCheckout: Renderer['renderCheckout'] = (page, payment, frame) =>
  DOCTYPE +
  renderToString(
    <Shell title={page.checkout.product.name} frame={frame} data={{ page, payment, now: frame.now.getTime() }}>
      <Checkout store={openWatched(firstState(page, payment))} acts={null} />
    </Shell>,
  )

export const renderGate: Renderer['renderGate'] = (page, frame) =>
  DOCTYPE +
  renderToString(
    <Shell title={page.checkout.product.name} frame={frame} data={{ gate: true, page, now: frame.now.getTime() }}>
      <Gate store={openWatched(firstGateState(page))} acts={null} />
    </Shell>,
  )

export const renderVerify: Renderer['renderVerify'] = ({ issuers }, frame) =>
  DOCTYPE +
  renderToString(
    <Shell
      title="Verify a receipt"
      frame={frame}
      data={{ verify: { issuers } }}
      noscript="This page needs JavaScript to check a signature."
    >
      <Verify issuers={issuers} />
    </Shell>,
  )

export const renderMessage: Renderer['renderMessage'] = ({ title, sentence, note, links = [] }, frame) =>
  DOCTYPE +
  renderToString(
    <Shell title={title} frame={frame}>
      <main class="message">
        <CoinMark />
        <h1>{title}</h1>
        <p class="quiet">{sentence}</p>
        {note !== null && <p class="fine">{note}</p>}
        {links.map(({ text, href, fileName }) => (
          <p key={text}>
            <a href={href} download={fileName ?? undefined}>
              {text}
            </a>
          </p>
        ))}
      </main>
    </Shell>,
  )

const DOCTYPE = '<!doctype html>'
