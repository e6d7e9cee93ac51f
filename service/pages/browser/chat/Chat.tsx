import { useEffect, useRef } from 'preact/hooks'
import type { CheckoutPage } from '../../model.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import { Formatted, viewOf } from '../answer/Formatted.tsx'
import { Option } from '../checkout/Ahead.tsx'
import type { Api } from '../checkout/api.ts'
import { submitted } from '../checkout/Checkout.tsx'
import { Spinner, Warning } from '../checkout/Icons.tsx'
import { ReceiptAddress } from '../checkout/Invoice.tsx'
import { Pay } from '../checkout/Pay.tsx'
import { Price } from '../checkout/Price.tsx'
import type { Acts, Drawn, State } from '../checkout/state.ts'
import { useWatched } from '../checkout/watched.ts'
import { date, say, usdc } from '../words/say.ts'
import type { Balance, Talk, Turn } from './model.ts'
import { openTalk } from './talk.ts'

/** A checkout that is a conversation: what was said, what is left, and the next message. */
export function openChat({
  store,
  api,
  acts,
  now,
}: {
  store: Watched<State>
  api: Api
  acts: Acts
  now: () => number
}): void {
  const { checkout } = store.read().page
  const opened = openTalk({ store, api, home: new URL(checkout.url).pathname, acts, now })
  const chat: Drawn = ({ state }) => <Chat state={state} acts={acts} opened={opened} />
  store.change({ chat })
}

type Opened = ReturnType<typeof openTalk>

function Chat({ state, acts, opened }: { state: State; acts: Acts; opened: Opened }) {
  const talk = useWatched(opened.talk)
  const { page, progress, gone } = state
  const { balance, token } = talk
  const canSend = token !== null && balance?.status === 'active'
  const isClosed = gone || !page.available
  // A payment is shown in place of the chat, which goes on with it.
  if (progress !== null) return null
  return (
    <section class="chat" aria-label={say('chat.conversation')}>
      <Log page={page} talk={talk} />
      {isClosed ? null : canSend ? (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void opened.send()
          }}
        >
          <Meter balance={balance} page={page} />
          <Message talk={talk} fault={talk.fault} enter={opened.enter} isBusy={opened.isBusy} sends />
        </form>
      ) : (
        <Buying {...{ state, acts, opened, talk }} />
      )}
    </section>
  )
}

function Log({ page, talk }: { page: CheckoutPage; talk: Talk }) {
  const { turns, lines, sending } = talk
  const log = useRef<HTMLDivElement>(null)
  const greeting = page.checkout.chat?.greeting ?? null
  useEffect(() => {
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight
  }, [turns, lines, sending])
  return (
    // Focusable, because it may scroll.
    <div
      class={turns.length === 0 && sending === null ? 'talk' : 'talk talk-begun'}
      role="log"
      tabIndex={0}
      aria-label={say('chat.conversation')}
      ref={log}
    >
      {greeting !== null && (
        <div class="said">
          <p class="lines">{greeting}</p>
        </div>
      )}
      {turns.map((turn) => (
        <Exchange
          key={turn.paymentId}
          turn={turn}
          lines={lines[turn.paymentId] ?? []}
          name={page.checkout.product.name}
        />
      ))}
      {sending !== null && <Mine message={sending} />}
    </div>
  )
}

function Mine({ message }: { message: string }) {
  return (
    <div class="said said-mine">
      <span class="unseen">{say('chat.you')}: </span>
      <p class="lines">{message}</p>
    </div>
  )
}

function Exchange({ turn, lines, name }: { turn: Turn; lines: readonly string[]; name: string }) {
  const { message, status, answer, isCut, receiptUrl } = turn
  return (
    <>
      <Mine message={message} />
      <div class="said" aria-busy={status === 'working'}>
        <span class="unseen">{name}: </span>
        {status === 'answered' ? (
          <Formatted view={viewOf(answer ?? '')} />
        ) : status === 'failed' ? (
          <p class="fault">
            <Warning />
            {say('chat.failed')}
          </p>
        ) : (
          <>
            {lines.length > 0 && <p class="lines">{lines.join('\n')}</p>}
            <p class="answering">
              <Spinner /> {say('chat.answering')}
            </p>
          </>
        )}
        {status !== 'working' && (
          <p class="fine">
            <a href={receiptUrl} target="_blank" rel="noreferrer">
              {say(isCut ? 'chat.whole' : 'chat.receipt')}
            </a>
          </p>
        )}
      </div>
    </>
  )
}

/** What is left, and what one costs. */
function Meter({ balance, page }: { balance: Balance; page: CheckoutPage }) {
  const { runs, runsLeft, until, plan } = balance
  const bought = page.checkout.plans?.find(({ id }) => id === plan.id)
  const each = bought?.runs == null ? null : bought.price / bought.runs
  return (
    <div class="meter">
      <span id={LEFT}>
        {runsLeft === null ? plan.name : say('chat.left', { count: runsLeft })}
        {until !== null && ` · ${say('ahead.until', { name: plan.name, date: date(new Date(until)) })}`}
      </span>
      {each !== null && <span>{say('price.each', { price: usdc(Math.round(each * 1e6) / 1e6) })}</span>}
      {runs !== null && runsLeft !== null && <progress max={runs} value={runsLeft} aria-labelledby={LEFT} />}
    </div>
  )
}

const LEFT = 'chat-left'
const MESSAGE = 'chat-message'

function Message({ talk, fault, enter, isBusy, sends }: MessageProps) {
  return (
    <div class="field">
      <label for={MESSAGE}>{say('chat.message')}</label>
      <textarea
        id={MESSAGE}
        rows={3}
        value={talk.text}
        aria-required
        aria-invalid={fault !== null}
        {...(fault === null ? {} : { 'aria-describedby': `${MESSAGE}-fault` })}
        onInput={({ currentTarget }) => enter(currentTarget.value)}
        onKeyDown={(event) => {
          // A line break with Shift. While a word is composed, Enter ends that word.
          if (!sends || event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          if (!isBusy()) event.currentTarget.form?.requestSubmit()
        }}
      />
      {fault !== null && (
        <p class="fault" id={`${MESSAGE}-fault`}>
          <Warning />
          {fault}
        </p>
      )}
      {sends && (
        <button
          class="button"
          aria-disabled={isBusy()}
          onClick={(event) => {
            if (isBusy()) event.preventDefault()
          }}
        >
          {talk.sending === null ? say('chat.send') : say('pay.sending')}
        </button>
      )}
    </div>
  )
}

interface MessageProps {
  talk: Talk
  fault: string | null
  enter: (text: string) => void
  isBusy: () => boolean
  /** Whether the message is paid for already. */
  sends: boolean
}

/** The next message together with the payment of a plan. */
function Buying({ state, acts, opened, talk }: { state: State; acts: Acts; opened: Opened; talk: Talk }) {
  const form = useRef<HTMLFormElement>(null)
  const { page, wish, errors } = state
  const { plans = [] } = page.checkout
  // As it is at the click: a rendering may be on its way.
  const rawNow = () => ({ message: opened.talk.read().text })
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (form.current !== null) submitted({ state, acts, form: form.current, raw: rawNow() })
      }}
    >
      {talk.balance !== null && (
        <p class="notice">
          <span>{say(talk.balance.status === 'ended' ? 'chat.ended' : 'chat.usedUp')}</span>
        </p>
      )}
      <Message
        talk={talk}
        fault={errors['message'] ?? talk.fault}
        enter={opened.enter}
        isBusy={opened.isBusy}
        sends={false}
      />
      <fieldset class="plans">
        <legend>{say('chat.pay')}</legend>
        {plans.map((plan) => (
          <Option
            key={plan.id}
            id={plan.id}
            name={plan.name}
            text={contentOf(plan)}
            on={wish.choice.plan === plan.id}
            pick={() => acts.choose(rawNow(), { plan: plan.id })}
          />
        ))}
        <p class="fine">{say('chat.note')}</p>
      </fieldset>
      <Price state={state} choose={(choice) => acts.choose(rawNow(), choice)} locked={false} />
      <ReceiptAddress state={state} enter={acts.enterEmail} />
      <Pay state={state} acts={acts} />
    </form>
  )
}

function contentOf(plan: NonNullable<CheckoutPage['checkout']['plans']>[number]): string {
  const messages = plan.runs === null ? '' : say('chat.messages', { count: plan.runs })
  const days = plan.kind === 'period' ? say('ahead.days', { count: plan.days }) : ''
  return [usdc(plan.price), messages, days].filter((part) => part !== '').join(' · ')
}
