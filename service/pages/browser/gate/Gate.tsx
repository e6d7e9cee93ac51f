import type { Acts } from '../checkout/acts.ts'
import { Spinner, Tick } from '../checkout/Icons.tsx'
import { Pay } from '../checkout/Pay.tsx'
import { Summary } from '../checkout/Summary.tsx'
import { useWatched, type Watched } from '../checkout/watched.ts'
import type { Answer, GateState } from './state.ts'

/** A 402 for a person: the price, their wallet, and then what it bought. */
export function Gate({ store, acts }: { store: Watched<GateState>; acts: Acts | null }) {
  const state = useWatched(store)
  const { page, answer, sent, account, wallets } = state
  const submit = (event: Event): void => {
    event.preventDefault()
    const [only] = wallets ?? []
    if (account === null && wallets?.length === 1 && only !== undefined) acts?.connect(only)
    else if (account !== null) acts?.pay({})
  }
  return (
    <>
      {page.checkout.testMode && (
        <p class="banner" role="note">
          <strong>Test mode</strong> No money moves here. Its owner can try it with their test token.
        </p>
      )}
      <main class="split">
        <Summary page={page} brief={answer !== null} />
        <section class="till" aria-label="Payment">
          <div class="column">
            {answer !== null && <Bought answer={answer} again={acts?.again} />}
            {sent !== 'no' && <Waiting slow={sent === 'slow'} />}
            {!page.checkout.testMode && (
              <form noValidate hidden={answer !== null || sent !== 'no'} onSubmit={submit}>
                <Pay state={state} acts={acts} />
              </form>
            )}
          </div>
        </section>
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {answer !== null ? 'Paid. This is the answer.' : sent === 'no' ? (state.notice?.text ?? '') : 'Confirming.'}
      </p>
    </>
  )
}

function Waiting({ slow }: { slow: boolean }) {
  return (
    <div class="outcome">
      <span class="seal seal-wait">
        <Spinner />
      </span>
      <h2>{slow ? 'Still confirming your payment' : 'Asking and paying'}</h2>
      <p class="quiet">
        {slow
          ? 'This takes longer than usual. You are never charged twice: leave this page open.'
          : 'A moment, please.'}
      </p>
    </div>
  )
}

function Bought({ answer, again }: { answer: Answer; again: (() => void) | undefined }) {
  return (
    <div class="outcome">
      <span class="seal seal-good">
        <Tick />
      </span>
      <h2>Paid</h2>
      {answer.paymentId !== null && <p class="quiet mono">{answer.paymentId}</p>}
      <section class="answer" aria-labelledby="answer">
        <h3 id="answer">Answer</h3>
        {/* In a keyboard's reach, for it may scroll. */}
        {answer.text !== null && <pre tabIndex={0}>{answer.text}</pre>}
      </section>
      <p class="onward">
        <a class="button" href={answer.href} download={answer.name}>
          Save the answer
        </a>
        <button type="button" class="button button-plain" onClick={again}>
          Buy it again
        </button>
      </p>
    </div>
  )
}
