import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { shownNames } from '../../../ui-kit/format.ts'
import { draftOf, fillFromDraft, rawOf, saveDraft, type Control } from './draft.ts'
import { Ahead } from './Ahead.tsx'
import { Fields } from './Fields.tsx'
import { RECEIPT, type Raw } from './form.ts'
import { Warning } from './Icons.tsx'
import { orderedFields, type OrderEnd } from './order.ts'
import { outcomeIn, Pay } from './Pay.tsx'
import { Price } from './Price.tsx'
import { RECEIPT_ADDRESS, ReceiptAddress } from './Invoice.tsx'
import { Progress } from './Progress.tsx'
import { headlineOf, isFree, isPaid, titleOf, type Acts, type Doing, type State } from './state.ts'
import type { Choice } from './form.ts'
import { say, type PlainKey } from '../words/say.ts'
import { useWatched } from './watched.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import { Summary, Terms } from './Summary.tsx'

/** The whole page. Without `acts` it is static, until its script has started. */
export function Checkout({ store, acts }: { store: Watched<State>; acts: Acts | null }) {
  const state = useWatched(store)
  const { page, progress, transfer } = state
  const { product, testMode, id } = page.checkout
  useTitle(state)
  return (
    <>
      {testMode && transfer === null && <TestBanner calls={(page.checkout.after?.kind ?? 'webhook') === 'webhook'} />}
      <main class={progress === null ? 'split' : 'split split-brief'}>
        <Summary page={page} />
        <section class="till" aria-label={say('terms.payment')}>
          <div class="column">
            {progress !== null ? (
              <Progress
                key={id}
                page={page}
                progress={progress}
                acts={acts}
                isOrder={state.order !== null}
                isFramed={state.embed?.tab === false}
              />
            ) : transfer !== null ? (
              (transfer({ state }) as VNode)
            ) : state.orderEnd !== null ? (
              <Unavailable {...endOf(state.orderEnd)} />
            ) : state.gone ? (
              <Unavailable title={say('form.linkExpired')} text={say('form.noLongerSold', { product: product.name })} />
            ) : !page.available ? (
              <Unavailable
                title={say('form.unavailable')}
                text={say('form.notStarted', { product: product.name })}
                retry={acts?.retry}
              />
            ) : null}
            {transfer !== null ? null : page.checkout.chat == null || state.order !== null ? (
              <Form state={state} acts={acts} hidden={isFormHidden(state)} />
            ) : (
              ((state.chat?.({ state }) as VNode | undefined) ?? <p class="chat">{page.checkout.chat.greeting}</p>)
            )}
          </div>
        </section>
        <Terms page={page} />
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {spoken(state)}
      </p>
    </>
  )
}

/** Hidden and not removed while a payment is under way: after a failure the form still has its values. */
function Form({ state, acts, hidden }: { state: State; acts: Acts | null; hidden: boolean }) {
  const form = useRef<HTMLFormElement>(null)
  const { page, errors, order, prefill } = state
  const { fields } = page.checkout
  const draft = draftOf(state)
  const drafted: Control[] = [...fields, { name: RECEIPT_ADDRESS, type: 'email' }]
  // The first rendering, which the server makes too, knows only the defaults.
  const [raw, setRaw] = useState<Raw | null>(null)
  const shown = shownNames(fields, (field) => (raw === null ? field.default : raw[field.name]))
  const look = (): void => {
    if (form.current !== null && fields.some(({ showIf }) => showIf !== undefined)) setRaw(rawOf(fields, form.current))
  }
  useEffect(() => {
    if (acts === null || form.current === null || prefill === null) return
    fillFromDraft(draft, prefill, drafted, form.current)
    look()
    const raw = rawOf(drafted, form.current)
    acts.enterEmail(String(raw[RECEIPT_ADDRESS]))
    if (order === null) acts.choose(raw)
  }, [prefill])
  useEffect(() => {
    const first = fields.find(({ name }) => name in errors)
    if (first === undefined && RECEIPT in errors) document.getElementById(RECEIPT_ADDRESS)?.focus()
    if (first === undefined || form.current === null) return
    control(form.current, first.name)?.focus()
  }, [errors])
  const save = (): void => {
    look()
    if (acts === null || form.current === null || prefill === null || order !== null) return
    const raw = rawOf(drafted, form.current)
    saveDraft(draft, drafted, raw)
    acts.choose(raw)
  }
  const choose = (choice: Choice): void => {
    if (form.current !== null) acts?.choose(rawOf(fields, form.current), choice)
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    if (acts === null || form.current === null) return
    submitted({ state, acts, form: form.current, raw: rawOf(fields, form.current) })
  }
  return (
    // The page's own messages beside the fields are clearer than the browser's bubbles.
    <form ref={form} noValidate hidden={hidden} onSubmit={submit} onInput={save} onChange={save}>
      {(order !== null || state.continued !== null) && (
        <p class="notice ordered">
          <span>
            {say(order !== null ? 'form.ordered' : state.continued === true ? 'form.continued' : 'form.continuedNot')}
          </span>
        </p>
      )}
      {order !== null ? (
        // With a key of its own: the open form's controls have values that a customer may have typed.
        <Fields key="order" fields={orderedFields(fields, order)} errors={{}} locked />
      ) : (
        fields.length > 0 && (
          <Fields key="form" fields={fields} errors={errors} shown={shown} locked={prefill?.locked} />
        )
      )}
      <Price state={state} choose={choose} locked={order !== null} />
      <Ahead
        state={state}
        choose={(plan) => choose({ plan })}
        use={(how) => {
          if (form.current !== null) acts?.use(rawOf(fields, form.current), how)
        }}
      />
      <ReceiptAddress state={state} enter={acts?.enterEmail} />
      <Pay state={state} acts={acts} />
    </form>
  )
}

/** What the form's button does. */
export function submitted({ state, acts, form, raw }: { state: State; acts: Acts; form: HTMLElement; raw: Raw }): void {
  const { page, account, wallets } = state
  if (isFree(page)) acts.takeFree(raw)
  else if (page.checkout.testMode) acts.simulate(raw, outcomeIn(form))
  else if (account === null && wallets?.length === 1 && wallets[0] !== undefined) acts.connect(wallets[0])
  else if (account === null) form.querySelector<HTMLElement>('.wallet')?.focus()
  else acts.pay(raw)
}

function isFormHidden({ progress, gone, orderEnd, page }: State): boolean {
  return progress !== null || gone || orderEnd !== null || !page.available
}

function control(form: HTMLFormElement, name: string): HTMLElement | null {
  const found = form.elements.namedItem(name)
  // The link of a file may be hidden; what chooses the file is there.
  if (found instanceof HTMLElement && found.hidden) return document.getElementById(`field-${name}`)
  return found instanceof HTMLElement ? found : null
}

function TestBanner({ calls }: { calls: boolean }) {
  return (
    <p class="banner" role="note">
      <strong>{say('common.testMode')}</strong> {say(calls ? 'form.testBanner' : 'form.testBannerPlain')}
    </p>
  )
}

function Unavailable({ title, text, retry }: { title: string; text: string; retry?: (() => void) | undefined }) {
  return (
    <div class="outcome">
      <span class="seal seal-wait">
        <Warning />
      </span>
      <h2>{title}</h2>
      <p class="quiet">{text}</p>
      {retry !== undefined && (
        <button type="button" class="button button-plain" onClick={retry}>
          {say('common.tryAgain')}
        </button>
      )}
    </div>
  )
}

function endOf(end: OrderEnd): { title: string; text: string } {
  return end === 'expired'
    ? { title: say('form.orderExpired'), text: say('form.orderExpiredHint') }
    : { title: say('form.orderMistyped'), text: say('form.orderMistypedHint') }
}

/** What a screen reader announces about changes outside the focused element. */
function spoken({ page, doing, notice, progress, transfer, gone, account, orderEnd }: State): string {
  if (progress !== null) {
    const { title, text } = headlineOf(progress, page)
    return `${title}. ${text}`
  }
  if (transfer !== null) return ''
  if (orderEnd !== null) return endOf(orderEnd).title
  if (gone) return say('form.linkExpired')
  if (!page.available) return `${say('form.unavailable')}. ${say('common.noCharge')}`
  if (notice !== null) return notice.text
  if (doing !== null) return say(WHILE[doing])
  return account === null ? '' : say('pay.connected', { wallet: account.wallet.name })
}

const WHILE: Readonly<Record<Doing, PlainKey>> = {
  connecting: 'pay.whileConnecting',
  switching: 'pay.whileSwitching',
  looking: 'pay.whileLooking',
  signing: 'pay.whileSigning',
  sending: 'pay.whileSending',
}

function useTitle({ page, progress }: State): void {
  const paid = progress !== null && isPaid(progress)
  useEffect(() => {
    const title = titleOf(page)
    document.title = paid ? say('form.paidTitle', { product: title }) : title
  }, [paid, page.checkout.product.name])
}
