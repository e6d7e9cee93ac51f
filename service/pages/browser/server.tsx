import type { VNode } from 'preact'
import renderToString from 'preact-render-to-string'
import type { Frame, Renderer } from '../model.ts'
import { Checkout } from './checkout/Checkout.tsx'
import { haveFileFields } from './checkout/Fields.tsx'
import { FileField } from './checkout/FileField.tsx'
import { firstState, titleOf } from './checkout/state.ts'
import { openWatched } from '../../ui-kit/watched.ts'
import { Gate } from './gate/Gate.tsx'
import { firstGateState } from './gate/flow.ts'
import { MessagePage, messageOfError, messageOfPayment, messageOfReceipt, type Message } from './message/Message.tsx'
import { Shell } from './Shell.tsx'
import { Verify } from './verify/Verify.tsx'
import { LANGUAGES } from './words/languages.ts'
import { say, speak } from './words/say.ts'

haveFileFields(FileField)

export const renderCheckout: Renderer['renderCheckout'] = (page, payment, frame) =>
  inLanguage(frame, () => (
    <Shell
      title={titleOf(page)}
      frame={frame}
      data={{
        page,
        payment,
        now: frame.now.getTime(),
        embed: frame.embed ?? null,
        onramp: frame.onramp ?? null,
        passkeys: frame.passkeys,
      }}
      groups={[
        ...CHECKOUT,
        ...(page.checkout.chat == null ? [] : ['chat']),
        ...(frame.passkeys === true ? ['passkey'] : []),
      ]}
    >
      <Checkout store={openWatched(firstState(page, payment, frame))} acts={null} />
    </Shell>
  ))

export const renderGate: Renderer['renderGate'] = (page, frame) =>
  inLanguage(frame, () => (
    <Shell
      title={page.checkout.product.name}
      frame={frame}
      data={{ gate: true, page, now: frame.now.getTime(), onramp: frame.onramp ?? null }}
      groups={GATE}
    >
      <Gate store={openWatched(firstGateState(page, frame.onramp))} acts={null} />
    </Shell>
  ))

export const renderVerify: Renderer['renderVerify'] = ({ issuers }, frame) =>
  inLanguage(frame, () => (
    <Shell
      title={say('verify.title')}
      frame={frame}
      data={{ verify: { issuers } }}
      groups={VERIFY}
      noscript={say('verify.noscript')}
    >
      <Verify issuers={issuers} />
    </Shell>
  ))

export const renderWallet: Renderer['renderWallet'] = (frame) =>
  inLanguage(frame, () => (
    <Shell title={say('passkey.title')} frame={frame} data={{ wallet: true, now: frame.now.getTime() }} groups={WALLET}>
      <main class="verify" />
    </Shell>
  ))

export const renderPayment: Renderer['renderPayment'] = (payment, frame) =>
  renderMessage(frame, () => messageOfPayment(payment))

export const renderReceipt: Renderer['renderReceipt'] = (receipt, signed, frame) =>
  renderMessage(frame, () => messageOfReceipt(receipt, signed))

/** With a script where a checkout has ended: an order that was paid by a transfer is named after the hash of its link. */
export const renderError: Renderer['renderError'] = (error, frame) =>
  renderMessage(
    frame,
    () => messageOfError(error),
    error.code === 'checkout_not_found'
      ? { ended: true, embed: frame.embed ?? null, page: { checkout: { id: error.checkout ?? '' } } }
      : undefined,
  )

function renderMessage(frame: Frame, messageOf: () => Message, data?: object): string {
  return inLanguage(frame, () => {
    const message = messageOf()
    return (
      <Shell title={message.title} frame={frame} data={data} groups={ENDED} noscript={say('transfer.noscript')}>
        <MessagePage message={message} />
      </Shell>
    )
  })
}

function inLanguage({ language }: Frame, page: () => VNode): string {
  speak(language, LANGUAGES[language])
  return `<!doctype html>${renderToString(page())}`
}

/** The texts that each script may show; the others stay on the server. */
const GATE = ['common', 'terms', 'pay', 'error', 'gate']
const CHECKOUT = [
  'common',
  'terms',
  'pay',
  'transfer',
  'error',
  'form',
  'price',
  'ahead',
  'progress',
  'refund',
  'request',
  'fault',
  'report',
  'invoice',
  'receipt',
]
const ENDED = ['common', 'transfer', 'error', 'pay']
const VERIFY = ['common', 'verify']
const WALLET = ['common', 'pay', 'transfer', 'error', 'fault', 'passkey']
