import type { Ref } from 'preact'
import { useRef } from 'preact/hooks'
import { AnswerPage } from '../answer/Answer.tsx'
import { Spinner, Tick } from '../checkout/Icons.tsx'
import { Primary } from '../checkout/Actions.tsx'
import { Pay, Notice } from '../checkout/Pay.tsx'
import { Summary, Terms } from '../checkout/Summary.tsx'
import { say } from '../words/say.ts'
import { useWatched } from '../checkout/watched.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import type { GateActs } from '../checkout/state.ts'
import type { Bought as BoughtAnswer, GateState } from './flow.ts'

/** A 402 for a person: the price, the wallet, and then the purchased answer. */
export function Gate({ store, acts }: { store: Watched<GateState>; acts: GateActs | null }) {
  const state = useWatched(store)
  const { page, answer, sent, account, wallets } = state
  const { testMode } = page.checkout
  const token = useRef<HTMLInputElement>(null)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (testMode) {
      acts?.simulate(token.current?.value ?? '')
      return
    }
    const [only] = wallets ?? []
    if (account === null && wallets?.length === 1 && only !== undefined) acts?.connect(only)
    else if (account !== null) acts?.pay({})
  }
  return (
    <>
      {testMode && (
        <p class="banner" role="note">
          <strong>{say('common.testMode')}</strong> {say('gate.testBanner')}
        </p>
      )}
      <main class={answer === null ? 'split' : 'split split-brief'}>
        <Summary page={page} />
        <section class="till" aria-label={say('terms.payment')}>
          <div class="column">
            {answer !== null && <Bought answer={answer} again={acts?.again} testMode={testMode} />}
            {sent !== 'no' && <Waiting slow={sent === 'slow'} testMode={testMode} />}
            <form noValidate hidden={answer !== null || sent !== 'no'} onSubmit={submit}>
              {testMode ? <Simulate state={state} token={token} /> : <Pay state={state} acts={acts} />}
            </form>
          </div>
        </section>
        <Terms page={page} />
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {answer !== null
          ? say(testMode ? 'gate.simulatedNow' : 'gate.paidNow')
          : sent === 'no'
            ? (state.notice?.text ?? '')
            : say('gate.confirming')}
      </p>
    </>
  )
}

function Simulate({ state, token }: { state: GateState; token: Ref<HTMLInputElement> }) {
  return (
    <div class="pay">
      <div class="field">
        <label for="test-token">{say('gate.token')}</label>
        <p class="hint" id="test-token-hint">
          {say('gate.tokenHint')}
        </p>
        <input
          id="test-token"
          ref={token}
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="test-token-hint"
        />
      </div>
      <Notice state={state} />
      <Primary busy={state.doing === 'sending' ? say('pay.simulating') : null}>{say('pay.simulate')}</Primary>
      <p class="fine">{say('pay.noWalletNeeded')}</p>
    </div>
  )
}

function Waiting({ slow, testMode }: { slow: boolean; testMode: boolean }) {
  return (
    <div class="outcome">
      <span class="seal seal-wait">
        <Spinner />
      </span>
      <h2>{say(slow ? 'common.stillConfirming' : testMode ? 'common.simulating' : 'gate.sending')}</h2>
      <p class="quiet">{say(slow ? 'gate.takesLonger' : 'common.momentPlease')}</p>
    </div>
  )
}

function Bought({
  answer,
  again,
  testMode,
}: {
  answer: BoughtAnswer
  again: (() => void) | undefined
  testMode: boolean
}) {
  return (
    <div class="outcome">
      <span class="seal seal-good">
        <Tick />
      </span>
      <h2>{say(testMode ? 'gate.simulated' : 'gate.paid')}</h2>
      {answer.paymentId !== null && <p class="quiet mono">{answer.paymentId}</p>}
      {answer.text !== null && <AnswerPage text={answer.text} />}
      {answer.host !== null && <p class="quiet">{say('gate.elsewhere', { host: answer.host })}</p>}
      <p class="onward">
        {answer.host === null ? (
          <a class="button" href={answer.href} download={answer.name}>
            {say('gate.save')}
          </a>
        ) : (
          <a class="button" href={answer.href} target="_blank" rel="noreferrer noopener">
            {say('gate.open')}
          </a>
        )}
        <button type="button" class="button button-plain" onClick={again}>
          {say(testMode ? 'gate.simulateAnother' : 'gate.buyAnother')}
        </button>
      </p>
    </div>
  )
}
