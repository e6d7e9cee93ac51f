import { useEffect, useRef } from 'preact/hooks'
import { fillFromDraft, rawOf, saveDraft } from './draft.ts'
import { Fields } from './Fields.tsx'
import { Warning } from './Icons.tsx'
import { ORDER_ENDS, orderedFields } from './order.ts'
import { outcomeIn, Pay } from './Pay.tsx'
import { Progress } from './Progress.tsx'
import { headlineOf, isPaid, type Acts, type Doing, type State } from './state.ts'
import { useWatched } from './watched.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import { Summary, Terms } from './Summary.tsx'

/** The whole page. Without `acts` it is static, until its script has started. */
export function Checkout({ store, acts }: { store: Watched<State>; acts: Acts | null }) {
  const state = useWatched(store)
  const { page, progress } = state
  const { product, testMode, id } = page.checkout
  useTitle(state)
  return (
    <>
      {testMode && <TestBanner />}
      <main class={progress === null ? 'split' : 'split split-brief'}>
        <Summary page={page} />
        <section class="till" aria-label="Payment">
          <div class="column">
            {progress !== null ? (
              <Progress key={id} page={page} progress={progress} acts={acts} isOrder={state.order !== null} />
            ) : state.orderEnd !== null ? (
              <Unavailable {...ORDER_ENDS[state.orderEnd]} />
            ) : state.gone ? (
              <Unavailable
                title="This payment link has expired"
                text={`${product.name} can no longer be bought here. Nothing was charged.`}
              />
            ) : !page.available ? (
              <Unavailable
                title="Not available right now"
                text={`${product.name} cannot be started at the moment, so no payment is taken. Nothing was charged.`}
                retry={acts?.retry}
              />
            ) : null}
            <Form state={state} acts={acts} hidden={isFormHidden(state)} />
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
  const { page, errors, account, wallets, order } = state
  const { id, fields, testMode } = page.checkout
  useEffect(() => {
    if (acts !== null && form.current !== null) fillFromDraft(id, fields, form.current)
  }, [])
  useEffect(() => {
    const first = fields.find(({ name }) => name in errors)
    if (first === undefined || form.current === null) return
    control(form.current, first.name)?.focus()
  }, [errors])
  const save = (): void => {
    if (acts !== null && form.current !== null && order === null) saveDraft(id, fields, rawOf(fields, form.current))
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    if (acts === null || form.current === null) return
    const raw = rawOf(fields, form.current)
    if (testMode) acts.simulate(raw, outcomeIn(form.current))
    else if (account === null && wallets?.length === 1 && wallets[0] !== undefined) acts.connect(wallets[0])
    else if (account === null) form.current.querySelector<HTMLElement>('.wallet')?.focus()
    else acts.pay(raw)
  }
  return (
    // The page's own messages beside the fields are clearer than the browser's bubbles.
    <form ref={form} noValidate hidden={hidden} onSubmit={submit} onInput={save} onChange={save}>
      {order !== null && (
        <p class="notice ordered">
          <span>Your AI assistant filled in this form and gets the answer. Pay only if you asked it for this.</span>
        </p>
      )}
      {order !== null ? (
        // With a key of its own: the open form's controls have values that a customer may have typed.
        <Fields key="order" fields={orderedFields(fields, order)} errors={{}} locked />
      ) : (
        fields.length > 0 && <Fields key="form" fields={fields} errors={errors} />
      )}
      <Pay state={state} acts={acts} />
    </form>
  )
}

function isFormHidden({ progress, gone, orderEnd, page }: State): boolean {
  return progress !== null || gone || orderEnd !== null || !page.available
}

function control(form: HTMLFormElement, name: string): HTMLElement | null {
  const found = form.elements.namedItem(name)
  return found instanceof HTMLElement ? found : null
}

function TestBanner() {
  return (
    <p class="banner" role="note">
      <strong>Test mode</strong> No money moves here. The workflow runs with a simulated payment.
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
          Try again
        </button>
      )}
    </div>
  )
}

/** What a screen reader announces about changes outside the focused element. */
function spoken({ page, doing, notice, progress, gone, account, orderEnd }: State): string {
  if (progress !== null) {
    const { title, text } = headlineOf(progress, page)
    return `${title}. ${text}`
  }
  if (orderEnd !== null) return ORDER_ENDS[orderEnd].title
  if (gone) return 'This payment link has expired.'
  if (!page.available) return 'Not available right now. Nothing was charged.'
  if (notice !== null) return notice.text
  if (doing !== null) return WHILE[doing]
  return account === null ? '' : `Connected with ${account.wallet.name}.`
}

const WHILE: Readonly<Record<Doing, string>> = {
  connecting: 'Waiting for your wallet to connect.',
  switching: 'Waiting for your wallet to switch the network.',
  looking: 'Reading your balance.',
  signing: 'Waiting for your signature: confirm in your wallet.',
  sending: 'Sending your payment.',
}

function useTitle({ page, progress }: State): void {
  const paid = progress !== null && isPaid(progress)
  useEffect(() => {
    const { name } = page.checkout.product
    document.title = paid ? `Paid · ${name}` : name
  }, [paid, page.checkout.product.name])
}
